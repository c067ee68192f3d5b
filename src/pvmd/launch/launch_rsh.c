/* launch_rsh.c - the user's own command from PVM_RSH, called as rsh is: host [-l user] command. */
#include <stdlib.h>
#include <unistd.h>
#include "../core/config.h"
#include "launch.h"

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    const char *rsh = pvmi_config_text(PVMI_SETTING_RSH);
    char *remote = pvmd_launch_remote_command(o);
    if (!*rsh)
        rsh = "rsh";
    if (access(rsh, X_OK)) { /* not one program file: words for a shell */
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
    .name = "rsh", .label = "the command in PVM_RSH", .summary = "the command in PVM_RSH", .command = command};
