/*
 * reach.c - see reach.h. The remote shell runs a script that prints a mark and then what `pvm doctor --json` prints
 * there. All of it comes from another computer and is not trusted: its length is limited (child.h), its JSON must have
 * the expected form, and what is shown cannot control a terminal.
 */
#include "reach.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "console/commands/cure.h"
#include "core/message/proto.h"
#include "core/place/shell.h"
#include "core/version.h"
#include "core/visible.h"
#include "network.h"
#include "result.h"
#include "tools/pvm-info/text.h"

#define SKEW_MAX_S 1.0

/* What the script, or our side of the launcher, prints. */
#define MARK_FOUND  "dpvm-doctor-found\n"  /* JSON follows */
#define MARK_OTHER  "dpvm-doctor-other "   /* the path of a pvm that is not dpvm's follows */
#define MARK_NONE   "dpvm-doctor-none\n"   /* no pvm was found */
#define MARK_LOCAL  "dpvm-doctor-local\n"  /* the host is this computer */
#define MARK_MANUAL "dpvm-doctor-manual\n" /* no command starts its daemon */

/* ---- the command ---- */

/* For what must end before we give up. */
static int shorter_limit(const struct reach *r)
{
    return r->limit_s > 1 ? r->limit_s - 1 : 1;
}

/*
 * Takes the pvm beside the daemon that would be started, else the one in PATH. That may be PVM 3.4's, which would take
 * "doctor" for a hostfile and start a daemon: dpvm's has pvm-info beside it.
 */
static void print_script(FILE *f, const struct reach *r)
{
    char path[PATH_MAX];

    target_daemon_path(&r->target, path, sizeof(path) - 8);
    char *slash = strrchr(path, '/');
    fputs("p=", f);
    if (slash != NULL) {
        strcpy(slash, "/pvm");
        pvmc_shell_path(f, path);
        fputs("; [ -x \"$p\" ] || p=$(command -v pvm)", f);
    } else
        fputs("$(command -v pvm)", f);
    fprintf(f,
            "; if [ -x \"${p%%/*}/pvm-info\" ]; then echo dpvm-doctor-found; exec \"$p\" doctor --json --timeout %d; "
            "elif [ -n \"$p\" ]; then echo \"dpvm-doctor-other $p\"; else echo dpvm-doctor-none; fi",
            shorter_limit(r)); /* so that it tells of its own probes that hang */
}

/* The caller frees it; NULL: out of memory. */
static char *remote_command(const struct reach *r)
{
    char *script = NULL, *command = NULL;
    size_t size;
    FILE *f = open_memstream(&script, &size);

    if (f == NULL)
        return NULL;
    print_script(f, r);
    if (fclose(f) == 0 && (f = open_memstream(&command, &size)) != NULL) {
        fputs("exec sh -c ", f);
        pvmc_shell_quoted(f, script);
        fclose(f);
    }
    free(script);
    return command;
}

/* In a process of its own, since a name server may keep it waiting. */
static void launch(void *arg)
{
    const struct reach *r = arg;
    const char *launcher = target_launcher(&r->target);
    char *command = remote_command(r);
    struct target_command line;

    if (launcher == NULL) {
        fputs(target_is_loopback(&r->target) ? MARK_LOCAL : MARK_MANUAL, stdout);
    } else if (command != NULL) {
        target_command(&line, &r->target, launcher, shorter_limit(r), command);
        execvp(line.argv[0], line.argv);
        fprintf(stderr, "%s: not found or not executable: %s\n", line.argv[0], strerror(errno));
    }
    free(command);
}

void reach_start(struct reach *r)
{
    r->error = child_call(r->child, launch, r);
}

/* ---- what came back ---- */

/* The last line of the text that is not empty. */
static void last_line(const char *text, char *line, size_t size)
{
    size_t end = strlen(text);

    while (end > 0 && (unsigned char)text[end - 1] <= ' ')
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    snprintf(line, size, "%.*s", (int)(end - start), text + start);
}

static void add_cure(json_t *results, const struct reach *r, const char *cure, const char *text)
{
    char line[1024];

    cure_fill(cure, r->target.host, line, sizeof(line));
    result_add(results, "reach", SEVERITY_ERROR, line, "%s", text);
}

/* The remote shell has failed before the script ran. */
static void explain_shell(json_t *results, const struct reach *r)
{
    const char *out = child_text(r->child, CHILD_OUT), *err = child_text(r->child, CHILD_ERR);
    const char *cure = cure_find(err);
    char line[512], text[1024];

    last_line(*err != '\0' ? err : out, line, sizeof(line));
    cure = cure != NULL ? cure : cure_find(out);
    if (r->child->late)
        snprintf(text, sizeof(text), "no answer within %d s%s%s", r->limit_s, *line != '\0' ? ": " : "", line);
    else
        snprintf(text, sizeof(text), "%s", *line != '\0' ? line : "the remote shell ended without a word");
    if (r->child->late && cure == NULL)
        cure = cure_find("timed out");
    add_cure(results, r, cure != NULL ? cure : "the remote shell must work without a question: ssh %s true", text);
}

/* Its clock at some moment between start and end of the command. */
static void compare_clocks(json_t *results, const struct reach *r, const json_t *answer)
{
    const json_t *value = json_object_get(answer, "time");
    double time_s = json_number_value(value);
    double skew_s = time_s > r->child->to_s     ? time_s - r->child->to_s
                    : time_s < r->child->from_s ? time_s - r->child->from_s
                                                : 0;

    if (!json_is_number(value))
        return;
    if (fabs(skew_s) > SKEW_MAX_S)
        result_add(results, "clock skew", SEVERITY_WARNING,
                   "let both hosts follow a time server: `timedatectl set-ntp true` as root",
                   "its clock is %.1f s %s: times in logs and traces do not fit", fabs(skew_s),
                   skew_s > 0 ? "ahead" : "behind");
    else
        result_add(results, "clock skew", SEVERITY_OK, "", "less than %.1f s from ours",
                   SKEW_MAX_S + r->child->to_s - r->child->from_s);
}

static void compare_versions(json_t *results, const json_t *answer)
{
    const char *version = json_string_value(json_object_get(answer, "version"));
    const json_t *protocol = json_object_get(answer, "protocol");
    long there = (long)json_integer_value(protocol);

    version = version != NULL ? version : "of unknown version";
    if (!json_is_integer(protocol) || there != PVMC_DAEMON_PROTOCOL)
        result_add(results, "version", SEVERITY_ERROR, "install the same version on both hosts",
                   "it has dpvm %.60s (protocol %ld), this host dpvm %s (%d)", version, there, pvmc_version,
                   PVMC_DAEMON_PROTOCOL);
    else if (strcmp(version, pvmc_version) != 0)
        result_add(results, "version", SEVERITY_WARNING, "install the same version on both hosts",
                   "it has dpvm %.60s, this host dpvm %s; they understand each other", version, pvmc_version);
    else
        result_add(results, "version", SEVERITY_OK, "", "dpvm %s, as here", pvmc_version);
}

/* Both ends of the ssh connection, if they are in one network. */
static void compare_mtu(json_t *results, const json_t *answer)
{
    const json_t *path = json_object_get(answer, "path");
    const char *from = json_string_value(json_object_get(path, "from"));
    const char *to = json_string_value(json_object_get(path, "to"));
    int there = (int)json_integer_value(json_object_get(path, "mtu"));
    int here = from != NULL && to != NULL ? network_mtu(from, to) : 0;

    if (there > 0 && here > 0 && there != here)
        result_add(
            results, "mtu", SEVERITY_WARNING, "give both interfaces the same one: ip link set DEVICE mtu N as root",
            "packets may have %d bytes there and %d here, in the same network: large ones get lost", there, here);
    else if (there > 0 && here > 0)
        result_add(results, "mtu", SEVERITY_OK, "", "%d bytes at both ends", here);
}

/* The object after the mark; NULL unless it is one that `pvm doctor --json` prints. */
static json_t *read_answer(const char *text)
{
    json_t *answer = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);

    if (json_is_array(json_object_get(answer, "results")))
        return answer;
    json_decref(answer);
    return NULL;
}

static void explain_no_answer(json_t *results, const struct reach *r, const char *text)
{
    char line[256];

    last_line(*text != '\0' ? text : child_text(r->child, CHILD_ERR), line, sizeof(line));
    if (r->child->late)
        result_add(results, "reach", SEVERITY_ERROR, "run `pvm doctor` there, or wait longer: --timeout",
                   "dpvm is there, but its `pvm doctor` has not ended within %d s", r->limit_s);
    else
        result_add(results, "reach", SEVERITY_ERROR, "install the same version of dpvm on both hosts",
                   "the dpvm there has no `pvm doctor`; it says: %s", *line != '\0' ? line : "nothing");
}

static void judge_answer(json_t *host, json_t *results, const struct reach *r, const char *text)
{
    json_t *answer = read_answer(text);

    if (answer == NULL) {
        explain_no_answer(results, r, text);
        return;
    }
    result_add(results, "reach", SEVERITY_OK, "", "the remote shell gets there, and dpvm is there");
    compare_versions(results, answer);
    compare_clocks(results, r, answer);
    compare_mtu(results, answer);
    int dropped = result_add_foreign(results, json_object_get(answer, "results"));
    if (dropped > 0)
        result_add(results, "reach", SEVERITY_WARNING, "install the same version of dpvm on both hosts",
                   "%d of its results are malformed", dropped);
    json_t *version = json_object_get(answer, "version");
    if (json_is_string(version) && json_string_length(version) < 64)
        json_object_set(host, "version", version);
    json_decref(answer);
}

static void judge(json_t *host, json_t *results, const struct reach *r)
{
    const char *out = child_text(r->child, CHILD_OUT), *at;
    char path[256];

    if (r->error != 0)
        result_add(results, "reach", SEVERITY_ERROR, "end other programs, or name fewer hosts",
                   "no process for it can be started: %s", strerror(r->error));
    else if ((at = strstr(out, MARK_FOUND)) != NULL)
        judge_answer(host, results, r, at + sizeof(MARK_FOUND) - 1);
    else if ((at = strstr(out, MARK_OTHER)) != NULL) {
        at += sizeof(MARK_OTHER) - 1;
        snprintf(path, sizeof(path), "it has no dpvm; %.*s is another PVM's", (int)strcspn(at, "\n"), at);
        add_cure(results, r, cure_find("no daemon at"), path);
    } else if (strstr(out, MARK_NONE) != NULL)
        add_cure(results, r, cure_find("no daemon at"), "the remote shell gets there, but no pvm is found there");
    else if (strstr(out, MARK_LOCAL) != NULL)
        result_add(results, "reach", SEVERITY_OK, "", "it is this computer: a further daemon starts here without ssh");
    else if (strstr(out, MARK_MANUAL) != NULL)
        result_add(results, "reach", SEVERITY_OK, "", "not looked at: no command of ours starts its daemon");
    else
        explain_shell(results, r);
}

json_t *reach_take(const struct reach *r)
{
    json_t *host = json_object(), *results = json_array();

    json_object_set_new(host, "name", text_json(r->target.name));
    json_object_set_new(host, "version", json_null());
    json_object_set(host, "results", results);
    judge(host, results, r);
    json_decref(results);
    return host;
}
