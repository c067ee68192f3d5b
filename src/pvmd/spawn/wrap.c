/* wrap.c - see wrap.h. */
#include "wrap.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>
#include "core/log.h"
#include "program.h"
#include "pvm3.h"

#define SETTING_MAX 4096 /* bytes */

static int refuse(const char *setting, const char *reason, struct pvmd_why *why)
{
    pvmd_why(why, PVMC_LOG_ERROR, "PVM_WRAP=%s: %s", setting, reason);
    return PvmNoFile;
}

static int debugger(char **words, size_t *count, struct pvmd_why *why)
{
    words[0] = pvmd_program_debugger(why);
    if (words[0])
        ++*count;
    return words[0] ? PvmOk : PvmNoFile;
}

static int wrapper(const char *setting, const wordexp_t *from, char **words, size_t *count, struct pvmd_why *why)
{
    for (size_t i = 0; i < from->we_wordc; i++) {
        words[i] = i ? strdup(from->we_wordv[i]) : pvmd_program_command(from->we_wordv[i]);
        if (!words[i])
            return i ? PvmNoMem : refuse(setting, "this daemon finds no such command in its PATH", why);
        ++*count;
    }
    return PvmOk;
}

/* Whether a pattern or a tilde is outside quotes: expanding it searches for files or users, which may take long. */
static bool has_search(const char *text)
{
    char quote = '\0';
    for (; *text; text++) {
        if (*text == '\\' && quote != '\'' && text[1])
            text++;
        else if (quote)
            quote = *text == quote ? '\0' : quote;
        else if (*text == '\'' || *text == '"')
            quote = *text;
        else if (strchr("*?[~", *text))
            return true;
    }
    return false;
}

static int split(const char *setting, wordexp_t *words, struct pvmd_why *why)
{
    words->we_wordc = 0;
    if (!setting || !*setting)
        return PvmOk;
    if (strlen(setting) > SETTING_MAX)
        return refuse("...", "more than 4096 bytes", why);
    if (has_search(setting))
        return refuse(setting, "has one of *?[~ outside quotes; write names out", why);
    int rc = wordexp(setting, words, WRDE_NOCMD);
    if (rc)
        words->we_wordc = 0;
    return !rc ? PvmOk
           : rc == WRDE_NOSPACE
               ? PvmNoMem
               : refuse(setting, "cannot be split into words; quote the shell's special characters", why);
}

int pvmd_wrap_find(const struct pvmd_order *order, const char *setting, char ***words, size_t *count,
                   struct pvmd_why *why)
{
    wordexp_t expanded = {0};
    bool debug = order->flags & PvmTaskDebug;
    bool serves_all = pvmd_program_is_group_server(order->file); /* and not only the program that starts it */
    *count = 0;
    *words = NULL;
    int code = split(debug || serves_all ? NULL : setting, &expanded, why);
    if (code)
        return code;
    *words = calloc(expanded.we_wordc + 2, sizeof **words);
    if (!*words)
        code = PvmNoMem;
    else
        code = debug ? debugger(*words, count, why) : wrapper(setting, &expanded, *words, count, why);
    wordfree(&expanded);
    return code;
}
