/*
 * loads.c - prints which libpvm3 it has loaded, and whether that one can talk to the daemon. Compiled with the headers
 * of Debian's PVM and linked with its libraries.
 */
#include <stdio.h>
#include <string.h>
#include <pvm3.h>

/* The file mapped as libpvm3. */
static const char *loaded(void)
{
    static char line[5000];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "/libpvm3.so")) {
            line[strcspn(line, "\n")] = '\0';
            return strchr(line, '/');
        }
    return "none";
}

int main(void)
{
    printf("%s\n", loaded());
    fflush(stdout);
    int enrolled = pvm_mytid() > 0;
    printf("enrolled %d, in a group %d\n", enrolled, enrolled && pvm_joingroup("loads") >= 0);
    pvm_exit();
    return !enrolled;
}
