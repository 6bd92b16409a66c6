/*
 * demangle_cxx_type.c - types, template arguments and expressions in a C++ name
 *
 * None of these are shown, except the types of virtual tables and similar objects (show_types).
 */
#include "common/symbols/demangle_cxx.h"

static bool read_expression(struct cxx *r);

/* Literals: L <type> <value> E, L _Z <encoding> E */
static bool read_primary(struct cxx *r)
{
	bool good;

	if (!cxx_accept(r, "L"))
		return false;
	r->types++;
	if (cxx_accept(r, "_Z")) {
		good = cxx_read_encoding(r);
	} else {
		good = cxx_read_type(r);
		cxx_accept(r, "n");
		while (cxx_is_hex(cxx_peek(r, 0)) && cxx_peek(r, 0) != 'E') /* floats are in hex */
			r->at++;
		if (cxx_accept(r, "_")) { /* imaginary part */
			cxx_accept(r, "n");
			while (cxx_is_hex(cxx_peek(r, 0)) && cxx_peek(r, 0) != 'E')
				r->at++;
		}
	}
	r->types--;
	return good && cxx_accept(r, "E");
}

static bool read_template_arg(struct cxx *r)
{
	bool good;

	if (!cxx_enter(r))
		return cxx_leave(r, false);
	switch (cxx_peek(r, 0)) {
	case 'X':
		r->at++;
		good = read_expression(r) && cxx_accept(r, "E");
		break;
	case 'L': good = read_primary(r); break;
	case 'J':
		r->at++;
		good = true;
		while (good && cxx_peek(r, 0) != 'E')
			good = read_template_arg(r);
		good = good && cxx_accept(r, "E");
		break;
	default: good = cxx_read_type(r);
	}
	return cxx_leave(r, good);
}

bool cxx_read_template_args(struct cxx *r)
{
	bool good = true;

	if (!cxx_accept(r, "I"))
		return false;
	r->templates++;
	while (good && cxx_peek(r, 0) != 'E')
		good = read_template_arg(r);
	r->templates--;
	return good && cxx_accept(r, "E");
}

bool cxx_read_optional_args(struct cxx *r)
{
	return cxx_peek(r, 0) != 'I' || cxx_read_template_args(r);
}

static const struct operation {
	char code[3];
	unsigned char operands; /* in an expression; 0: expressions have another form for it */
	const char *text;
} operators[] = {
	{"nw", 0, " new"},   {"na", 0, " new[]"}, {"dl", 1, " delete"}, {"da", 1, " delete[]"},
	{"ps", 1, "+"},	     {"ng", 1, "-"},	  {"ad", 1, "&"},	{"de", 1, "*"},
	{"co", 1, "~"},	     {"pl", 2, "+"},	  {"mi", 2, "-"},	{"ml", 2, "*"},
	{"dv", 2, "/"},	     {"rm", 2, "%"},	  {"an", 2, "&"},	{"or", 2, "|"},
	{"eo", 2, "^"},	     {"aS", 2, "="},	  {"pL", 2, "+="},	{"mI", 2, "-="},
	{"mL", 2, "*="},     {"dV", 2, "/="},	  {"rM", 2, "%="},	{"aN", 2, "&="},
	{"oR", 2, "|="},     {"eO", 2, "^="},	  {"ls", 2, "<<"},	{"rs", 2, ">>"},
	{"lS", 2, "<<="},    {"rS", 2, ">>="},	  {"eq", 2, "=="},	{"ne", 2, "!="},
	{"lt", 2, "<"},	     {"gt", 2, ">"},	  {"le", 2, "<="},	{"ge", 2, ">="},
	{"ss", 2, "<=>"},    {"nt", 1, "!"},	  {"aa", 2, "&&"},	{"oo", 2, "||"},
	{"pp", 1, "++"},     {"mm", 1, "--"},	  {"cm", 2, ","},	{"pm", 2, "->*"},
	{"pt", 0, "->"},     {"cl", 0, "()"},	  {"ix", 2, "[]"},	{"qu", 3, "?"},
	{"cv", 0, "(cast)"}, {"li", 0, "\"\""},
};

static const struct operation *find_operator(const struct cxx *r)
{
	size_t i;

	for (i = 0; i < sizeof operators / sizeof *operators; i++)
		if (cxx_looking_at(r, operators[i].code))
			return &operators[i];
	return NULL;
}

static bool read_conversion_type(struct cxx *r)
{
	bool outer = r->conversion, good;

	r->conversion = true;
	good = cxx_read_type(r);
	r->conversion = outer;
	return good;
}

/* <operator-name> */
bool cxx_read_operator(struct cxx *r)
{
	const struct operation *op = find_operator(r);
	bool good = true;

	if (!op)
		return false;
	r->at += 2;
	if (!r->types && (!cxx_separate(r) || !cxx_put(r, "operator") || !cxx_put(r, op->text)))
		return false;
	r->types++;
	if (!strcmp(op->code, "cv"))
		good = read_conversion_type(r);
	else if (!strcmp(op->code, "li"))
		good = cxx_read_source_name(r);
	r->types--;
	return good;
}

/* <simple-id> */
static bool read_simple_id(struct cxx *r)
{
	return cxx_read_source_name(r) && cxx_read_optional_args(r);
}

bool cxx_read_decltype(struct cxx *r)
{
	bool good;

	if (!cxx_accept(r, "DT") && !cxx_accept(r, "Dt"))
		return false;
	r->types++;
	good = read_expression(r);
	r->types--;
	return good && cxx_accept(r, "E");
}

static bool read_unresolved_type(struct cxx *r)
{
	switch (cxx_peek(r, 0)) {
	case 'T': return cxx_read_template_param(r) && cxx_read_optional_args(r);
	case 'D': return cxx_read_decltype(r);
	case 'S':
		if (!cxx_read_substitution(r))
			return false;
		if (cxx_is_digit(cxx_peek(r, 0)))
			return cxx_read_unqualified(r) && cxx_read_optional_args(r);
		return cxx_read_optional_args(r);
	}
	return false;
}

static bool read_base_unresolved(struct cxx *r)
{
	if (cxx_accept(r, "on"))
		return cxx_read_operator(r) && cxx_read_optional_args(r);
	if (cxx_accept(r, "dn"))
		return cxx_is_digit(cxx_peek(r, 0)) ? read_simple_id(r) : read_unresolved_type(r);
	return read_simple_id(r);
}

/*
 * <unresolved-name>. Compilers write both "sr <type> <name>", without an end mark, and
 * "srN <type> <level>+ E <name>".
 */
static bool read_unresolved(struct cxx *r)
{
	cxx_accept(r, "gs");
	if (!cxx_accept(r, "sr"))
		return read_base_unresolved(r);
	r->traits.unresolved = true;
	if (cxx_one_of(cxx_peek(r, 0), "TDS"))
		return cxx_read_type(r) && read_base_unresolved(r) && cxx_read_optional_args(r);
	if (cxx_accept(r, "N") && !cxx_read_type(r))
		return false;
	while (cxx_is_digit(cxx_peek(r, 0)))
		if (!read_simple_id(r))
			return false;
	/* "sr <class name> <name>" of older compilers: this E ends an outer part */
	if (!cxx_is_digit(cxx_peek(r, 1)) && cxx_peek(r, 1) != 'o' && cxx_peek(r, 1) != 'd')
		return cxx_peek(r, 0) == 'E';
	return cxx_accept(r, "E") && read_base_unresolved(r);
}

/* <expression>* E */
static bool read_expressions(struct cxx *r)
{
	while (cxx_peek(r, 0) != 'E')
		if (!read_expression(r))
			return false;
	return cxx_accept(r, "E");
}

/* [gs] nw <expression>* _ <type> (E | pi <expression>* E), and na */
static bool read_new(struct cxx *r)
{
	while (cxx_peek(r, 0) != '_')
		if (!read_expression(r))
			return false;
	r->at++;
	if (!cxx_read_type(r))
		return false;
	if (cxx_accept(r, "E"))
		return true;
	return (cxx_accept(r, "pi") || cxx_accept(r, "il")) && read_expressions(r);
}

static bool read_cast(struct cxx *r)
{
	if (!cxx_read_type(r))
		return false;
	return cxx_accept(r, "_") ? read_expressions(r) : read_expression(r);
}

/* Folds: fl fr fL fR, an operator, and one operand or two */
static bool read_fold(struct cxx *r)
{
	bool two = cxx_peek(r, 1) == 'L' || cxx_peek(r, 1) == 'R';

	r->at += 2;
	if (!find_operator(r))
		return false;
	r->at += 2;
	return read_expression(r) && (!two || read_expression(r));
}

static bool read_pack_args(struct cxx *r)
{
	while (cxx_peek(r, 0) != 'E')
		if (!read_template_arg(r))
			return false;
	return cxx_accept(r, "E");
}

static bool read_operands(struct cxx *r, unsigned n)
{
	while (n--)
		if (!read_expression(r))
			return false;
	return true;
}

/* Is it new, division, complement or a fold? For names with these uftrace shows the mangled
 * name. */
static bool is_unread_by_uftrace(const struct cxx *r)
{
	return cxx_looking_at(r, "nw") || cxx_looking_at(r, "na") || cxx_looking_at(r, "dv") ||
	       cxx_looking_at(r, "co") ||
	       (cxx_peek(r, 0) == 'f' && cxx_one_of(cxx_peek(r, 1), "lrLR"));
}

static bool read_expression_inside(struct cxx *r)
{
	const struct operation *op;
	char c0, c1;

	if ((cxx_looking_at(r, "gsnw") || cxx_looking_at(r, "gsna") || cxx_looking_at(r, "gsdl") ||
	     cxx_looking_at(r, "gsda")))
		r->at += 2;
	c0 = cxx_peek(r, 0);
	c1 = cxx_peek(r, 1);
	if (c0 == 'L')
		return read_primary(r);
	if (c0 == 'T' && (c1 == '_' || c1 == 'L' || cxx_is_digit(c1)))
		return cxx_read_template_param(r);
	if (c0 == 'f' && (c1 == 'p' || (c1 == 'L' && cxx_is_digit(cxx_peek(r, 2)))))
		return cxx_read_function_param(r);
	if (r->strict && is_unread_by_uftrace(r))
		return false;
	if (c0 == 'f' && cxx_one_of(c1, "lrLR"))
		return read_fold(r);
	if (cxx_accept(r, "pp_") || cxx_accept(r, "mm_"))
		return read_expression(r);
	if (cxx_accept(r, "nw") || cxx_accept(r, "na"))
		return read_new(r);
	if (cxx_accept(r, "cl") || cxx_accept(r, "il"))
		return read_expressions(r);
	if (cxx_accept(r, "cv"))
		return read_cast(r);
	if (cxx_accept(r, "tl"))
		return cxx_read_type(r) && read_expressions(r);
	if (c1 == 'c' && cxx_one_of(c0, "dscr")) {
		r->at += 2;
		return cxx_read_type(r) && read_expression(r);
	}
	if (cxx_accept(r, "ti") || cxx_accept(r, "at") || cxx_accept(r, "st"))
		return cxx_read_type(r);
	if (cxx_accept(r, "te") || cxx_accept(r, "sz") || cxx_accept(r, "az") ||
	    cxx_accept(r, "nx") || cxx_accept(r, "sp") || cxx_accept(r, "tw"))
		return read_expression(r);
	if (cxx_accept(r, "dt") || cxx_accept(r, "pt"))
		return read_expression(r) && read_unresolved(r);
	if (cxx_accept(r, "ds"))
		return read_operands(r, 2);
	if (cxx_accept(r, "sZ"))
		return cxx_peek(r, 0) == 'T' ? cxx_read_template_param(r)
					     : cxx_read_function_param(r);
	if (cxx_accept(r, "sP"))
		return read_pack_args(r);
	if (cxx_accept(r, "tr"))
		return true;
	op = find_operator(r);
	if (op && op->operands) {
		r->at += 2;
		return read_operands(r, op->operands);
	}
	return read_unresolved(r);
}

static bool read_expression(struct cxx *r)
{
	return cxx_leave(r, cxx_enter(r) && read_expression_inside(r));
}

/* F [Y] <type>+ [R|O] E */
static bool read_function_type(struct cxx *r)
{
	if (!cxx_accept(r, "F"))
		return false;
	cxx_accept(r, "Y");
	while (cxx_peek(r, 0) != 'E') {
		if (cxx_looking_at(r, "RE") || cxx_looking_at(r, "OE"))
			r->at++;
		else if (!cxx_read_type(r))
			return false;
	}
	return cxx_accept(r, "E");
}

/* A [<number> | <expression>] _ <type> */
static bool read_array_type(struct cxx *r)
{
	if (!cxx_accept(r, "A"))
		return false;
	if (cxx_is_digit(cxx_peek(r, 0)))
		cxx_read_number(r, NULL);
	else if (cxx_peek(r, 0) != '_' && !read_expression(r))
		return false;
	return cxx_accept(r, "_") && cxx_read_type(r);
}

/*
 * The types of two letters that begin with D. *more is set where they are only a prefix of what
 * follows.
 */
static bool read_d_type(struct cxx *r, bool *more)
{
	char c = cxx_peek(r, 1);

	if (c == 't' || c == 'T')
		return cxx_read_decltype(r);
	r->at += c ? 2 : 1;
	if (cxx_one_of(c, "defhisacnu"))
		return true;
	if (cxx_one_of(c, "FBU")) { /* _Float32, _BitInt(N) */
		while (cxx_is_digit(cxx_peek(r, 0)))
			r->at++;
		return cxx_accept(r, "_") || cxx_accept(r, "x") || cxx_accept(r, "b");
	}
	*more = true;
	if (cxx_one_of(c, "pxo")) /* pack, transaction safe, noexcept */
		return true;
	if (c == 'O') /* noexcept(...) */
		return read_expression(r) && cxx_accept(r, "E");
	if (c == 'w') { /* throw(...) */
		while (cxx_peek(r, 0) != 'E')
			if (!cxx_read_type(r))
				return false;
		return cxx_accept(r, "E");
	}
	if (c == 'v') { /* vector */
		if (cxx_accept(r, "_")) {
			if (!read_expression(r))
				return false;
		} else if (!cxx_read_number(r, NULL)) {
			return false;
		}
		return cxx_accept(r, "_");
	}
	return false;
}

static bool read_template_param_type(struct cxx *r)
{
	bool good;

	if (!cxx_read_template_param(r))
		return false;
	if (cxx_peek(r, 0) != 'I')
		return true;
	if (!r->conversion)
		return cxx_read_template_args(r);
	if (++r->nested > r->traits.conversions)
		r->traits.conversions = r->nested;
	good = cxx_read_template_args(r);
	r->nested--;
	return good;
}

static bool read_substitution_type(struct cxx *r)
{
	bool in_std = cxx_peek(r, 1) == 't';

	if (!cxx_read_substitution(r))
		return false;
	if (in_std && !cxx_read_unqualified(r))
		return false;
	return cxx_read_optional_args(r);
}

static bool read_type_inside(struct cxx *r)
{
	bool more;

	do {
		char c;

		while (cxx_one_of(cxx_peek(r, 0), "rVKPROCG"))
			r->at++;
		more = false;
		c = cxx_peek(r, 0);
		switch (c) {
		case 'F': return read_function_type(r);
		case 'T':
			if (cxx_one_of(cxx_peek(r, 1), "sue")) { /* struct, union, enum */
				r->at += 2;
				return cxx_read_name(r);
			}
			return read_template_param_type(r);
		case 'A': return read_array_type(r);
		case 'M': r->at++; return cxx_read_type(r) && cxx_read_type(r);
		case 'D':
			if (!read_d_type(r, &more))
				return false;
			break;
		case 'S': return read_substitution_type(r);
		case 'u': r->at++; return cxx_read_source_name(r) && cxx_read_optional_args(r);
		case 'U':
			r->at++;
			if (!cxx_read_source_name(r) || !cxx_read_optional_args(r))
				return false;
			more = true;
			break;
		case 'I': return cxx_read_template_args(r);
		case 'N':
		case 'Z': return cxx_read_name(r);
		default:
			if (cxx_is_digit(c))
				return cxx_read_name(r);
			if (!cxx_one_of(c, "vwbcahstijlmxynofdegz"))
				return false;
			r->at++;
		}
	} while (more);
	return true;
}

bool cxx_read_type(struct cxx *r)
{
	bool good;

	r->types++;
	good = cxx_enter(r) && read_type_inside(r);
	r->types--;
	return cxx_leave(r, good);
}
