/*
 * strings.c - functions with which PVM's own stubs copy strings. No header declares them, but other libraries with
 * stubs like PVM's call them.
 */
int ftocstr(char *to, int to_length, const char *from, int from_length);
int ctofstr(char *to, int to_length, const char *from);

/* Copies a Fortran string without trailing blanks to a C string. 0, or 1 and an empty string if it does not fit. */
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

/* Copies a C string to a Fortran string, truncated or padded with blanks. Returns 0. */
int ctofstr(char *to, int to_length, const char *from)
{
    while (to_length-- > 0)
        *to++ = *from ? *from++ : ' ';
    return 0;
}
