#include "spy.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortran/fortran.h"

#define ANYGOOD 1234567 /* as in session.f: any result that is not an error */

struct account {
    char text[1024];
};

static struct account told, seen;
static char routine[32];
static bool to_compare;
static int bad, calls;

static void note(struct account *a, const char *text)
{
    strncat(a->text, text, sizeof a->text - strlen(a->text) - 1);
}

static void note_int(struct account *a, int value)
{
    char text[32];
    snprintf(text, sizeof text, " %d", value);
    note(a, text);
}

static void note_text(struct account *a, const char *value, size_t length)
{
    char text[256];
    snprintf(text, sizeof text, " \"%.*s\"", (int)length, value);
    note(a, text);
}

void spy_begin(const char *function)
{
    seen.text[0] = '\0';
    note(&seen, function);
}

void spy_int(int value)
{
    note_int(&seen, value);
}

void spy_text(const char *text)
{
    note_text(&seen, text, strlen(text));
}

/* ---- called from Fortran ---- */

/* Blanks at the end do not count. */
static size_t trimmed(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

void FORTRAN(tell_begin)(const char *name, size_t length)
{
    snprintf(routine, sizeof routine, "%.*s", (int)length, name);
    told.text[0] = seen.text[0] = '\0';
    to_compare = false;
    if (strcmp(routine, "pvmfhalt") == 0)
        signal(SIGTERM, SIG_IGN); /* it ends all tasks, but this one must still report */
}

void FORTRAN(tell_call)(const char *name, size_t length)
{
    snprintf(told.text, sizeof told.text, "%.*s", (int)length, name);
    to_compare = true;
}

void FORTRAN(tell_int)(const int *value)
{
    note_int(&told, *value);
}

void FORTRAN(tell_text)(const char *text, size_t length)
{
    note_text(&told, text, trimmed(text, length));
}

void FORTRAN(tell_end)(const int *result, const int *expected)
{
    bool as_expected = *expected == ANYGOOD ? *result >= 0 : *result == *expected;

    calls++;
    printf("%-16s %s%s = %d\n", routine, told.text, to_compare ? ":" : "", *result);
    if (!as_expected) {
        printf("  FAILED: expected %s %d\n", *expected == ANYGOOD ? "at least" : "exactly",
               *expected == ANYGOOD ? 0 : *expected);
        bad++;
    }
    if (to_compare && strcmp(told.text, seen.text) != 0) {
        printf("  FAILED: C saw      %s\n", seen.text);
        bad++;
    }
}

/* Ends the program: 0 if no fault was found. */
void FORTRAN(tell_all)(const int *least)
{
    printf("%d calls, %d wrong\n", calls, bad);
    exit(bad || calls < *least);
}
