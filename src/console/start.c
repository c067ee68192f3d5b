/* start.c - why there is no virtual machine: looks at what usually is in the way. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "console.h"
#include "start.h"

/* Whether the folder of the daemon's files can be used; says so if not. */
static bool tmp_is_good(const char *tmp)
{
    struct stat status;
    const char *wrong = NULL;

    if (stat(tmp, &status) != 0)
        wrong = strerror(errno);
    else if (!S_ISDIR(status.st_mode))
        wrong = "it is no folder";
    else if (access(tmp, W_OK | X_OK) != 0)
        wrong = strerror(errno);
    if (wrong == NULL)
        return true;
    fprintf(
        stderr,
        "pvm: pvmd's files cannot be kept in %s: %s. Make that folder (mkdir -m 700), or let PVM_TMP name another.\n",
        tmp, wrong);
    return false;
}

/* Whether root forgot to say that it means it. */
static bool root_is_allowed(void)
{
    const char *allowed = getenv("PVM_ALLOW_ROOT");

    if (geteuid() != 0 || (allowed != NULL && *allowed != '\0' && strcmp(allowed, "0") != 0))
        return true;
    fprintf(stderr, "pvm: root may not start a daemon. Use another user, or set PVM_ALLOW_ROOT=1.\n");
    return false;
}

void start_explain(int code)
{
    const char *tmp = pvmgettmp();

    fflush(stdout);
    fprintf(stderr, "pvm: no virtual machine: %s\n", error_text(code));
    if (tmp_is_good(tmp) && root_is_allowed())
        fprintf(stderr, "pvm: the daemon's log, %s/pvml.%u, says more. pvm-info -c shows the settings.\n", tmp,
                (unsigned)getuid());
}
