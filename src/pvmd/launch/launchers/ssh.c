/* ssh.c - OpenSSH's client. It must get in by key or agent, without a question; with so=pw it may ask. */
#include <stdlib.h>
#include "core/config.h"
#include "command.h"
#include "pvmd/base/own_path.h"
#include "pvmd/launch/password.h"

static void add_ssh(const struct pvmd_launch_order *o, struct pvmd_command *c, const char *batch_mode)
{
    char *remote = pvmd_launch_remote_command(o);
    long connect_s = (long)(pvmc_config_us(PVMC_SETTING_START_TIMEOUT) * 2 /
                            3000000); /* so that ssh reports the fault before our own limit */
    pvmd_command_add(c, "ssh");
    pvmd_command_add(c, "-T");
    pvmd_command_add(c, "-x");
    pvmd_command_addf(c, "-oBatchMode=%s", batch_mode);
    pvmd_command_addf(c, "-oConnectTimeout=%ld", connect_s > 1 ? connect_s : 1);
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

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    add_ssh(o, c, "yes");
}

/* Questions go to our terminal or, without one, to the user's own SSH_ASKPASS. */
static void asking_command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    const char *terminal = pvmd_password_terminal();
    pvmd_command_add(c, "env");
    pvmd_command_add(c, "SSH_ASKPASS_REQUIRE=force");
    if (terminal) {
        pvmd_command_addf(c, "SSH_ASKPASS=%s", pvmd_own_path());
        pvmd_command_addf(c, PVMD_ASK_AT "=%s", terminal);
    }
    add_ssh(o, c, "no");
}

const struct pvmd_launcher pvmd_launch_ssh = {.name = "ssh", .label = "ssh", .command = command};
const struct pvmd_launcher pvmd_launch_password = {.name = "pw", .label = "ssh", .command = asking_command};
