/* transport.c - whether the transports that the user wants work here: shared memory, TCP, raw sockets, RDMA devices ...
 */
#include <stdio.h>
#include <string.h>
#include "core/config.h"
#include "probe.h"
#include "result.h"
#include "transports/choice.h"

static const struct {
    const char *name, *cure;
} cures[] = {
    {"dp",
     "install the helper for raw sockets: setcap cap_net_raw+ep on dp-socket as root, see dp-socket(8); or choose "
     "another transport in PVM_TRANSPORT"},
    {"rdma", "see which devices there are: ibv_devices, or rdma link; or choose another transport in PVM_TRANSPORT"},
    {"ofi", "install libfabric (Debian: libfabric1), see `pvm-info -d`; or choose another transport in PVM_TRANSPORT"},
    {"atm", "start the network: atm-sim serve; or choose another transport in PVM_TRANSPORT"},
    {"shm", "allow shared memory (memfd_create) to this user"},
    {"tcp", "correct the settings PVM_TCP_*, see `pvm-info -c`"},
};

static const char *cure_of(const char *name)
{
    for (size_t i = 0; i < sizeof(cures) / sizeof(cures[0]); i++)
        if (strcmp(cures[i].name, name) == 0)
            return cures[i].cure;
    return "choose another transport in PVM_TRANSPORT; `pvm-info -d` lists them";
}

/* Whether PVM_TRANSPORT names it, and does not exclude it. */
static bool is_named(const char *name)
{
    const char *at = pvmc_config_text(PVMC_SETTING_TRANSPORT);

    for (size_t length; *at != '\0'; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        size_t blanks = strspn(at, " ");
        if (length >= blanks && strncmp(at + blanks, name, strlen(name)) == 0 &&
            strspn(at + blanks + strlen(name), " ") == length - blanks - strlen(name))
            return true;
    }
    return false;
}

/* Those that "auto" takes by itself. */
static bool is_expected(const char *name)
{
    return strcmp(name, "shm") == 0 || strcmp(name, "tcp") == 0;
}

static void look_at(json_t *results, const struct pvmt_transport_row *row)
{
    char why[512] = "", name[64];
    bool usable = pvmt_choice_usable(row, why, sizeof(why)) == 0;

    snprintf(name, sizeof(name), "transport %s", row->name);
    if (usable)
        result_add(results, name, SEVERITY_OK, "", "usable%s",
                   is_expected(row->name) || is_named(row->name) ? "" : ", if PVM_TRANSPORT names it");
    else if (is_named(row->name))
        result_add(results, name, SEVERITY_ERROR, cure_of(row->name),
                   "PVM_TRANSPORT names it, but it is not usable: %s", why);
    else if (is_expected(row->name))
        result_add(results, name, SEVERITY_WARNING, cure_of(row->name), "not usable: %s", why);
    else
        result_add(results, name, SEVERITY_OK, "", "not usable here, and not asked for: %s", why);
}

void probe_transports(json_t *results)
{
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name != NULL; row++)
        if (!row->internal)
            look_at(results, row);
}
