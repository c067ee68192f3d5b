/* node.c - who we are. */
#include "node.h"
#include <stddef.h>
#include <unistd.h>
#include "../core/config.h"
#include "../core/error.h"
#include "../core/log.h"

static int open_table(struct pvmi_nart **out)
{
    const char *path = pvmi_config_text(PVMI_SETTING_DP_NART);
    if (*path) {
        int rc = pvmi_nart_open(path, out);
        if (rc == PVMI_ENOTFOUND)
            pvmi_log(PVMI_LOG_ERROR, "DP_NART: cannot read \"%s\"", path);
        return rc == PVMI_ENOTFOUND ? PVMI_EFORMAT : rc;
    }
    return pvmi_nart_open(access(PVMI_NART_FILE, F_OK) ? NULL : PVMI_NART_FILE, out);
}

uint16_t pvmi_node_derive(const uint8_t hardware[6])
{
    uint16_t id = (uint16_t)(hardware[4] << 8 | hardware[5]);
    return id && id != UINT16_MAX ? id : UINT16_MAX - 1;
}

static uint16_t own_id(const struct pvmi_node *n)
{
    uint16_t id = (uint16_t)pvmi_config_integer(PVMI_SETTING_DP_NID);
    if (!id)
        id = pvmi_nart_node_of(n->nart, n->interface.hardware, n->interface.name);
    return id ? id : pvmi_node_derive(n->interface.hardware);
}

int pvmi_node_find(const char *ifname, struct pvmi_node *out)
{
    const char *set = pvmi_config_text(PVMI_SETTING_DP_INTERFACE);
    int rc = pvmi_dp_interface_find(ifname ? ifname : *set ? set : NULL, &out->interface);
    if (!rc)
        rc = open_table(&out->nart);
    if (rc)
        return rc;
    out->ethertype = (uint16_t)pvmi_config_integer(PVMI_SETTING_DP_ETHERTYPE);
    out->id = own_id(out);
    return 0;
}
