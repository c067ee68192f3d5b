/* password.c - OpenSSH's client that may ask for a password: so=pw, where somebody can be asked. */
#include <stddef.h>
#include <string.h>
#include "launcher.h"
#include "pvmd/launch/password.h"
#include "pvmd/base/own_path.h"
#include "ssh.h"

static bool serves(const struct pvmd_launch_wish *w)
{
    bool wanted = w->start && !strcmp(w->start, "pw");
    return wanted && (pvmd_launch_is_named(w, "ssh") || pvmd_launch_is_auto(w)) && pvmd_password_can_ask();
}

/* Questions go to our terminal or, without one, to the user's own SSH_ASKPASS. */
static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    const char *terminal = pvmd_password_terminal();
    pvmd_command_add(c, "env");
    pvmd_command_add(c, "SSH_ASKPASS_REQUIRE=force");
    if (terminal) {
        pvmd_command_addf(c, "SSH_ASKPASS=%s", pvmd_own_path());
        pvmd_command_addf(c, PVMD_ASK_AT "=%s", terminal);
    }
    pvmd_ssh_command(o, "no", c);
}

const struct pvmd_launcher pvmd_launch_password = {.option = "pw",
                                                   .means = "asking for a password",
                                                   .label = "ssh",
                                                   .serves = serves,
                                                   .command = command,
                                                   .asks = true,
                                                   .limit_s = PVMD_PASSWORD_LIMIT_S};
