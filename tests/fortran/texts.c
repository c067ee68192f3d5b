/* texts.c - calls ftocstr() and ctofstr() of libfpvm3, which no header declares; both libraries must behave alike. */
#include <stdio.h>
#include <string.h>

extern int ftocstr(char *to, int to_length, char *from, int from_length);
extern int ctofstr(char *to, int to_length, char *from);

static char to[16];

static void show(const char *call, int rc)
{
    printf("%s = %d \"", call, rc);
    for (size_t i = 0; i < sizeof to; i++)
        printf(to[i] ? "%c" : "\\0", to[i]);
    printf("\"\n");
    memset(to, '#', sizeof to);
}

#define SHOW(call) show(#call, call)

int main(void)
{
    memset(to, '#', sizeof to);
    SHOW(ftocstr(to, 10, "abc   ", 6));
    SHOW(ftocstr(to, 10, "abc", 3));
    SHOW(ftocstr(to, 4, "abc   ", 6));
    SHOW(ftocstr(to, 3, "abc   ", 6)); /* no room for the NUL */
    SHOW(ftocstr(to, 0, "a", 1));
    SHOW(ftocstr(to, 0, "", 0));
    SHOW(ftocstr(to, 1, "", 0));
    SHOW(ftocstr(to, 5, "     ", 5));
    SHOW(ftocstr(to, 5, "a b  ", 5));
    SHOW(ftocstr(to, 5, "  a", 3));
    SHOW(ftocstr(to, 10, "ab\0cd", 5));
    SHOW(ftocstr(to, 4, "abc\0   ", 7));
    SHOW(ctofstr(to, 10, "abc"));
    SHOW(ctofstr(to, 3, "abc"));
    SHOW(ctofstr(to, 2, "abc"));
    SHOW(ctofstr(to, 0, "abc"));
    SHOW(ctofstr(to, 5, ""));
    return 0;
}
