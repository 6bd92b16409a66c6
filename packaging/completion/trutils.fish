# fish completion for trdecode, trfilter, trsym, trstat and trencode
#
# --complete-options of each program prints a line for each option:
# "-o --output<TAB>FILE<TAB>file<TAB>what the option does"

# The words and the fields of the inputs on the line, after what a list with commas has already. A
# trace that is not read in two seconds has no fields.
function __trutils_list
    set -l before (commandline -ct | string replace -r '^--?[a-z]+=' '' | string match -r '^.*,|^\\+' )
    set -l inputs
    for word in (commandline -opc)[2..]
        string match -qv -- '-*' $word
        and test -e $word
        and set -a inputs $word
    end
    set -l fields
    if set -q inputs[1]
        set fields (timeout 2 trdecode -q --list --json -- $inputs 2>/dev/null |
            string match -rg '^ *{"name": "([^"\\\\ ]*)"' | sort -u)
    end
    for word in $argv $fields
        echo "$before$word"
    end
end

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
                string match -q 'FIELD*' -- $argument; or test $argument = KEYS
                and set -a rule -f -a '(__trutils_list)'
            case '*'
                # complete expands its words once more
                set words (string split ' ' -- $words | string escape | string join ' ')
                if contains -- $argument KEYS LIST
                    set words "(__trutils_list $words)"
                end
                set -a rule -f -a $words
        end
        complete $rule
    end
end
