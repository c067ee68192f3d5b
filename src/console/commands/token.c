/* token.c - the command token: makes, lists and revokes tokens, with which daemons join by themselves. */
#include "token.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/message/token.h"
#include "console/command.h"
#include "console/console.h"
#include "dpvm.h"

enum { DEFAULT_SECONDS = 3600 };

struct words {
    int uses, seconds;
    const char *file;   /* -o */
    const char *revoke; /* --revoke */
    int lists, offline;
};

/* A time such as 90, 30m, 12h or 7d, in seconds; 0: never; -1: none. */
static int seconds_of(const char *text)
{
    static const char units[] = "smhd";
    static const int factors[] = {1, 60, 3600, 86400};
    char *end;
    if (strcmp(text, "never") == 0)
        return 0;
    long n = strtol(text, &end, 10);
    const char *unit = *end != '\0' && end[1] == '\0' ? strchr(units, *end) : NULL;
    int factor = *end == '\0' ? 1 : unit != NULL ? factors[unit - units] : 0;
    return end != text && factor > 0 && n > 0 && n <= PVMC_TOKEN_SECONDS_MAX / factor ? (int)n * factor : -1;
}

static int uses_of(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (strcmp(text, "any") == 0)
        return 0;
    return end != text && *end == '\0' && n > 0 && n <= PVMC_TOKEN_USES_MAX ? (int)n : -1;
}

/* Takes an option with its value. False after a message. */
static bool take_value(struct words *w, const char *option, const char *value)
{
    if (strcmp(option, "--ttl") == 0)
        w->seconds = seconds_of(value);
    else if (strcmp(option, "--uses") == 0)
        w->uses = uses_of(value);
    else if (strcmp(option, "-o") == 0)
        w->file = value;
    else if (strcmp(option, "--revoke") == 0)
        w->revoke = value;
    if (w->seconds < 0)
        advise("token: --ttl takes a time such as 90s, 30m, 12h or 7d, or never, not \"%s\"", value);
    if (w->uses < 0)
        advise("token: --uses takes a number of hosts up to %d, or any, not \"%s\"", PVMC_TOKEN_USES_MAX, value);
    return w->seconds >= 0 && w->uses >= 0;
}

static bool has_value(const char *option)
{
    static const char *const options[] = {"--ttl", "--uses", "-o", "--revoke"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

/* False after a message. */
static bool read_words(int argc, char **argv, struct words *w)
{
    *w = (struct words){.uses = 1, .seconds = DEFAULT_SECONDS};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            w->lists = 1;
        else if (strcmp(argv[i], "--offline") == 0)
            w->offline = 1;
        else if (has_value(argv[i]) && i + 1 < argc) {
            if (!take_value(w, argv[i], argv[i + 1]))
                return false;
            i++;
        } else {
            advise("token: \"%s\" is %s; see: help token", argv[i],
                   has_value(argv[i]) ? "an option that takes a value" : "no option");
            return false;
        }
    }
    return true;
}

/* Writes the token so that only the user can read it. */
static int write_file(const char *path, const char *token)
{
    char partial[4096];
    int n = snprintf(partial, sizeof partial, "%s.new", path);
    int fd = n < (int)sizeof partial ? open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    bool is_written = fd >= 0 && dprintf(fd, "%s\n", token) > 0;
    if (fd >= 0 && close(fd) != 0)
        is_written = false;
    if (is_written && rename(partial, path) == 0)
        return CONSOLE_OK;
    advise("token: cannot write %s: %s", fd < 0 ? partial : path, strerror(errno));
    if (fd >= 0)
        unlink(partial);
    return CONSOLE_FAILED;
}

static int show(const struct words *w, const char *token, const char *address)
{
    int result = w->file != NULL ? write_file(w->file, token) : CONSOLE_OK;
    if (result != CONSOLE_OK)
        return result;
    if (console.json) {
        json_t *all = json_object();
        if (address != NULL)
            json_object_set_new(all, "address", text_json(address));
        if (w->file == NULL)
            json_object_set_new(all, "token", text_json(token));
        print_json(all);
    } else if (w->file != NULL) {
        puts(address != NULL ? address : w->file);
    } else if (address == NULL) {
        puts(token);
    } else {
        printf("address  %s\ntoken    %s\n", address, token);
    }
    return CONSOLE_OK;
}

static int make(const struct words *w)
{
    char *token = NULL, *address = NULL;
    int code = pvm_newtoken(w->uses, w->seconds, &token, &address);
    if (code < 0) {
        advise(code == PvmOutOfRes ? "token: there are as many tokens as a machine can have (64); revoke one"
                                   : "token: %s",
               error_text(code));
        return CONSOLE_FAILED;
    }
    int result = show(w, token, address);
    if (result != CONSOLE_OK) /* nobody has it */
        pvm_revoke(strndupa(token + strlen("pvm1-"), PVMC_TOKEN_ID_TEXT - 1));
    return result;
}

static const char *state_text(enum pvmtokenstate state)
{
    static const char *const texts[] = {[PvmTokenGood] = "good",
                                        [PvmTokenExpired] = "expired",
                                        [PvmTokenUsedUp] = "used up",
                                        [PvmTokenRevoked] = "revoked"};
    return (size_t)state < sizeof texts / sizeof *texts ? texts[state] : "?";
}

static json_t *number_json(int number)
{
    return number < 0 ? json_null() : json_integer(number);
}

static void print_token(const struct pvmtokeninfo *t)
{
    char uses[16] = "any", left[16] = "-";
    if (t->ti_uses >= 0)
        snprintf(uses, sizeof uses, "%d", t->ti_uses);
    if (t->ti_seconds >= 0)
        snprintf(left, sizeof left, "%ds", t->ti_seconds);
    printf("%16s  %-8s %7s %9s\n", t->ti_id, state_text(t->ti_state), uses, left);
}

static int list(void)
{
    struct pvmtokeninfo *tokens = NULL;
    int n = 0, code = pvm_tokens(&n, &tokens);
    if (code < 0) {
        advise("token: %s", error_text(code));
        return CONSOLE_FAILED;
    }
    json_t *rows = console.json ? json_array() : NULL;
    if (rows == NULL && n > 0)
        printf("%16s  %-8s %7s %9s\n", "TOKEN", "STATE", "USES", "TIME");
    for (int i = 0; i < n; i++)
        if (rows == NULL)
            print_token(&tokens[i]);
        else
            json_array_append_new(rows,
                                  json_pack("{s:o, s:s, s:o, s:o}", "id", text_json(tokens[i].ti_id), "state",
                                            state_text(tokens[i].ti_state), "uses", number_json(tokens[i].ti_uses),
                                            "seconds", number_json(tokens[i].ti_seconds)));
    if (rows != NULL)
        print_json(json_pack("{s:o}", "tokens", rows));
    return CONSOLE_OK;
}

static int revoke_one(const char *id)
{
    int code = pvm_revoke(id);
    if (code >= 0)
        return CONSOLE_OK;
    if (code == PvmBadParam)
        advise("token: \"%s\" is no token's id; token --list shows them", id);
    else if (code == PvmNotFound)
        advise("token: this machine has no token %s; token --list shows all", id);
    else
        advise("token: %s", error_text(code));
    return CONSOLE_FAILED;
}

/* All that are not revoked yet. */
static int revoke_all(void)
{
    struct pvmtokeninfo *tokens = NULL;
    int n = 0, code = pvm_tokens(&n, &tokens), result = CONSOLE_OK;
    if (code < 0) {
        advise("token: %s", error_text(code));
        return CONSOLE_FAILED;
    }
    for (int i = 0; i < n; i++)
        if (tokens[i].ti_state != PvmTokenRevoked && revoke_one(tokens[i].ti_id) != CONSOLE_OK)
            result = CONSOLE_FAILED;
    return result;
}

int token_command(int argc, char **argv)
{
    struct words w;
    if (!read_words(argc, argv, &w))
        return CONSOLE_FAILED;
    if (w.offline)
        return token_offline(argc, argv);
    if (w.lists)
        return list();
    if (w.revoke == NULL)
        return make(&w);
    return strcmp(w.revoke, "all") == 0 ? revoke_all() : revoke_one(w.revoke);
}

int token_is_offline(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--offline") == 0)
            return 1;
    return 0;
}

int token_offline(int argc, char **argv)
{
    struct words w;
    struct pvmc_token token;
    char text[PVMC_TOKEN_TEXT];
    if (!read_words(argc, argv, &w))
        return CONSOLE_FAILED;
    if (w.uses != 1 || w.seconds != DEFAULT_SECONDS) {
        advise("token: a token of --offline is good for any number of hosts, without limit of time");
        return CONSOLE_FAILED;
    }
    if (pvmc_token_draw(&token) != 0) {
        advise("token: no random numbers");
        return CONSOLE_FAILED;
    }
    pvmc_token_format(&token, text);
    return show(&w, text, NULL);
}
