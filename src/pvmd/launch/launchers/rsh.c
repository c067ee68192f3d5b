/* rsh.c - the command in PVM_RSH, with the arguments of rsh: host [-l user] command. */
#include <stdlib.h>
#include <unistd.h>
#include "core/config.h"
#include "launcher.h"

static bool serves(const struct pvmd_launch_wish *w)
{
    return pvmd_launch_is_named(w, "rsh") || (pvmd_launch_is_auto(w) && *pvmc_config_text(PVMC_SETTING_RSH));
}

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    const char *rsh = pvmc_config_text(PVMC_SETTING_RSH);
    char *remote = pvmd_launch_remote_command(o);
    if (!*rsh)
        rsh = "rsh";
    if (access(rsh, X_OK)) { /* not the path of a program, but words for a shell */
        pvmd_command_add(c, "/bin/sh");
        pvmd_command_add(c, "-c");
        pvmd_command_addf(c, "exec %s \"$@\"", rsh);
    }
    pvmd_command_add(c, rsh);
    pvmd_command_add(c, o->target);
    if (o->login) {
        pvmd_command_add(c, "-l");
        pvmd_command_add(c, o->login);
    }
    pvmd_command_add(c, remote ? remote : "");
    c->failed |= !remote;
    free(remote);
}

const struct pvmd_launcher pvmd_launch_rsh = {
    .name = "rsh", .label = "the command in PVM_RSH", .serves = serves, .command = command, .travels = true};
