/* command.c - see command.h. */
#include "command.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/place/shell.h"
#include "pvmd/base/own_path.h"
#include "pvm3.h"

void pvmd_command_add(struct pvmd_command *c, const char *word)
{
    char *copy = c->count < PVMD_COMMAND_MAX ? strdup(word) : NULL;
    if (copy)
        c->argv[c->count++] = copy;
    else
        c->failed = true;
}

void pvmd_command_addf(struct pvmd_command *c, const char *format, ...)
{
    char *word;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&word, format, args);
    va_end(args);
    if (n < 0) {
        c->failed = true;
        return;
    }
    pvmd_command_add(c, word);
    free(word);
}

void pvmd_command_free(struct pvmd_command *c)
{
    for (unsigned i = 0; i < c->count; i++)
        free(c->argv[i]);
    memset(c, 0, sizeof *c);
}

/* ---- the remote command ---- */

/*
 * Non-interactive shells often have a short PATH, so our own daemon's path is tried first; a bare name is looked up. On
 * failure the script prints an error line of the start protocol.
 */
static char *script_for(const struct pvmd_launch_order *o)
{
    char *script = NULL;
    size_t size;
    FILE *f = open_memstream(&script, &size);
    if (!f)
        return NULL;
    fputs("p=", f);
    pvmc_shell_path(f, o->daemon_path ? o->daemon_path : pvmd_own_path());
    fputs("; q=$p; case $p in */*) ;; *) p=$(command -v \"$p\");; esac; ", f);
    if (!o->daemon_path)
        fputs("[ -x \"$p\" ] || p=$(command -v pvmd3); ", f);
    fprintf(f,
            "[ -x \"$p\" ] || { echo \"dpvm-error<%d> no daemon at $q%s on $(uname -n): install dpvm there, or say "
            "where it is with dx= or PVM_DPATH\"; exit 127; }; exec \"$p\" -s",
            PvmCantStart, o->daemon_path ? "" : " and no pvmd3 in PATH");
    if (fclose(f)) {
        free(script);
        return NULL;
    }
    return script;
}

char *pvmd_launch_remote_command(const struct pvmd_launch_order *o)
{
    char *command = NULL, *script = script_for(o);
    size_t size;
    FILE *f = script ? open_memstream(&command, &size) : NULL;
    if (f) {
        fputs("exec sh -c ", f);
        pvmc_shell_quoted(f, script);
        if (fclose(f)) {
            free(command);
            command = NULL;
        }
    }
    free(script);
    return command;
}
