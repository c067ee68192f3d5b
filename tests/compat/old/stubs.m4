dnl stubs.m4 - Fortran stubs as libraries of PVM's time have them: by the macros of conf/LINUX64.m4, without any header.

/* How long a text is without the blanks at its end; -1 tells that it is all blanks. */
static int last_letter(text, length)
char *text;
int length;
{
	while (length > 0 && text[length - 1] == ' ')
		length--;
	return length ? length : -1;
}

void
FUNCTION(onetext) ARGS(`STRING_ARG(text), length, letters')
STRING_ARG_DECL(text);
int *length, *letters;
{
	*length = STRING_LEN(text);
	*letters = last_letter(STRING_PTR(text), (int) STRING_LEN(text));
}

void
FUNCTION(twotexts) ARGS(`STRING_ARG(first), n, STRING_ARG(second), lengths')
STRING_ARG_DECL(first);
STRING_ARG_DECL(second);
int *n, *lengths;
{
	int i;

	lengths[0] = STRING_LEN(first);
	lengths[1] = STRING_LEN(second);
	for (i = -1; i < STRING_LEN(second) && *n < 1000; i++)
		++*n;
}

/* So many that lengths are passed on the stack; the last is behind another length there. */
int
FUNCTION(manytexts) ARGS(`a, b, STRING_ARG(first), c, d, STRING_ARG(second), e, STRING_ARG(third), lengths')
int *a, *b, *c, *d, *e, *lengths;
STRING_ARG_DECL(first);
STRING_ARG_DECL(second);
STRING_ARG_DECL(third);
{
	lengths[0] = STRING_LEN(first);
	lengths[1] = STRING_LEN(second);
	lengths[2] = STRING_LEN(third);
#ifdef WIDTH_OF_GFORTRAN
	{
		static char same_width[sizeof(STRING_LEN(third)) == sizeof(sizeof(0)) ? 1 : -1];
		lengths[0] += same_width[0];
	}
#endif
	return *a + *b + *c + *d + *e;
}
