# fish completion for trdecode, trfilter, trsym, trstat and trencode
#
# --complete-options of each program prints a line for each option:
# "-o --output<TAB>FILE<TAB>file<TAB>what the option does"

set -l trutils_program (path basename (status filename) 2>/dev/null | string replace -r '\.fish$' '')
contains -- "$trutils_program" trdecode trfilter trsym trstat trencode
or set trutils_program trdecode trfilter trsym trstat trencode

for program in $trutils_program
    command -q $program
    or continue
    $program --complete-options 2>/dev/null | while read -l -d \t names argument words help
        set -l rule -c $program -d (string trim -r -c : -- $help)
        for name in (string split ' ' -- $names)
            if string match -q -- '--*' $name
                set -a rule -l (string sub -s 3 -- $name)
            else
                set -a rule -s (string sub -s 2 -- $name)
            end
        end
        switch $argument
            case -
            case '[*'
            case '*'
                set -a rule -r
        end
        switch $words
            case file
                set -a rule -F
            case directory
                set -a rule -f -a '(__fish_complete_directories)'
            case -
            case '*'
                set -a rule -f -a $words
        end
        complete $rule
    end
end
