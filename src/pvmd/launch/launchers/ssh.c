/* ssh.c - OpenSSH's client, which gets in by key or agent, without a question (password.c: with one). */
#include <stdlib.h>
#include "launcher.h"
#include "ssh.h"

void pvmd_ssh_command(const struct pvmd_launch_order *o, const char *batch_mode, struct pvmd_command *c)
{
    char *remote = pvmd_launch_remote_command(o);
    pvmd_command_add(c, "ssh");
    pvmd_command_add(c, "-T");
    pvmd_command_add(c, "-x");
    pvmd_command_addf(c, "-oBatchMode=%s", batch_mode);
    pvmd_command_addf(c, "-oConnectTimeout=%d", o->connect_s > 1 ? (int)o->connect_s : 1);
    if (o->login) {
        pvmd_command_add(c, "-l");
        pvmd_command_add(c, o->login);
    }
    pvmd_command_add(c, "--");
    pvmd_command_add(c, o->target);
    pvmd_command_add(c, remote ? remote : "");
    c->failed |= !remote;
    free(remote);
}

static bool serves(const struct pvmd_launch_wish *w)
{
    return pvmd_launch_is_named(w, "ssh") || pvmd_launch_is_auto(w);
}

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    pvmd_ssh_command(o, "yes", c);
}

const struct pvmd_launcher pvmd_launch_ssh = {
    .name = "ssh", .label = "ssh", .serves = serves, .command = command, .travels = true};
