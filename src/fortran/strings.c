/*
 * strings.c - how PVM's own stubs copy texts. No header declares these two; libraries with stubs like PVM's call them.
 */
int ftocstr(char *to, int to_length, const char *from, int from_length);
int ctofstr(char *to, int to_length, const char *from);

/* Fortran's text without the blanks at its end, as a string. 0, or 1 and an empty string when it does not fit. */
int ftocstr(char *to, int to_length, const char *from, int from_length)
{
    while (from_length > 0 && from[from_length - 1] == ' ')
        from_length--;
    if (from_length >= to_length) {
        *to = '\0';
        return 1;
    }
    while (from_length-- > 0 && *from)
        *to++ = *from++;
    *to = '\0';
    return 0;
}

/* As much of the string as has room, filled up with blanks. 0. */
int ctofstr(char *to, int to_length, const char *from)
{
    while (to_length-- > 0)
        *to++ = *from ? *from++ : ' ';
    return 0;
}
