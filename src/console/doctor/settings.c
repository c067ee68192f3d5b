/* settings.c - environment variables: malformed values, and names that dpvm does not know. */
#include <stdlib.h>
#include <string.h>
#include "core/config.h"
#include "probe.h"
#include "result.h"
#include "transports/choice.h"

extern char **environ;

static const char *value_of(enum pvmc_setting which)
{
    const char *text = getenv(pvmc_setting_table[which].name);

    return text != NULL ? text : "";
}

/* Words of which a setting must be one. */
static const struct {
    enum pvmc_setting which;
    const char *words; /* each between blanks */
    const char *cure;
} choices[] = {
    {PVMC_SETTING_LAUNCHER, " auto local ssh rsh manual ", "set it to auto, local, ssh, rsh or manual"},
    {PVMC_SETTING_LIBRARIES, " path preload none ", "set it to path, preload or none"},
    {PVMC_SETTING_FAILOVER, " majority half no ", "set it to majority, half or no"},
};

static void check_choices(json_t *results)
{
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        const char *value = value_of(choices[i].which);
        char word[64];
        snprintf(word, sizeof(word), " %.60s ", value);
        if (*value != '\0' && strstr(choices[i].words, word) == NULL)
            result_add(results, "settings", SEVERITY_ERROR, choices[i].cure, "%s=\"%.100s\" is not usable",
                       pvmc_setting_table[choices[i].which].name, value);
    }
}

/* Returns how many settings are in the environment. */
static int check_values(json_t *results)
{
    int count = 0;
    char why[1024];

    for (int i = 0; i < PVMC_SETTING_COUNT; i++) {
        const char *value = value_of((enum pvmc_setting)i);
        if (*value == '\0')
            continue;
        count++;
        if (pvmc_config_check((enum pvmc_setting)i, value, why, sizeof(why)) != 0)
            result_add_why(results, "settings", SEVERITY_ERROR, why);
    }
    return count;
}

static void check_transport(json_t *results)
{
    char why[2048], cure[2048] = "unset PVM_TRANSPORT, or name a transport of `pvm-info -d`";

    if (pvmt_choice_check(pvmc_config_text(PVMC_SETTING_TRANSPORT), why, sizeof(why)) == 0)
        return;
    why[strcspn(why, ";")] = '\0';
    result_add(results, "settings", SEVERITY_ERROR, cure, "%s", why);
}

void probe_settings(json_t *results)
{
    char why[1024];
    int count = check_values(results);

    check_transport(results);
    check_choices(results);
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        if (pvmc_config_unknown(*variable, why, sizeof(why)))
            result_add_why(results, "settings", SEVERITY_WARNING, why);
    if (*value_of(PVMC_SETTING_FAULT) != '\0')
        result_add(results, "settings", SEVERITY_WARNING, "unset PVM_FAULT",
                   "PVM_FAULT is set: links and daemons fail on purpose");
    if (json_array_size(results) == 0)
        result_add(results, "settings", SEVERITY_OK, "", "%d set in the environment, all usable", count);
}
