/*
 * retry.c - a program that requests its task id repeatedly, for as many seconds as its argument says (0: once), and
 * prints the number of attempts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <pvm3.h>

int main(int argc, char **argv)
{
    int tries = 0, code;
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0);
    do {
        code = pvm_mytid();
        tries++;
    } while (code < 0 && time(NULL) < end);
    printf("%d tries, %s\n", tries, code < 0 ? "refused" : "enrolled");
    return 0;
}
