/* names - a task that gives everything it can name a name that would control a terminal; then it waits to be killed. */
#include <stdio.h>
#include "pvm3.h"

int main(int argc, char **argv)
{
    char *name = argv[argc - 1];
    int number = 1;

    pvm_initsend(PvmDataDefault);
    pvm_pkint(&number, 1, 1);
    pvm_putinfo(name, pvm_getsbuf(), PvmMboxDefault);
    pvm_joingroup(name);
    printf("%s\n", name);
    fflush(stdout);
    pvm_recv(-1, -1);
    return 0;
}
