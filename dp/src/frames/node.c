/* node.c - the id and interface of this node. */
#include "node.h"
#include <stddef.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"

static int open_table(struct dpi_nart **out)
{
    const char *path = pvmc_config_text(PVMC_SETTING_DP_NART);
    if (*path) {
        int rc = dpi_nart_open(path, out);
        if (rc == PVMC_ENOTFOUND)
            pvmc_log(PVMC_LOG_ERROR, "DP_NART: cannot read \"%s\"", path);
        return rc == PVMC_ENOTFOUND ? PVMC_EFORMAT : rc;
    }
    return dpi_nart_open(access(DPI_NART_FILE, F_OK) ? NULL : DPI_NART_FILE, out);
}

uint16_t dpi_node_derive(const uint8_t hardware[6])
{
    uint16_t id = (uint16_t)(hardware[4] << 8 | hardware[5]);
    return id && id != UINT16_MAX ? id : UINT16_MAX - 1;
}

static uint16_t own_id(const struct dpi_node *n)
{
    uint16_t id = (uint16_t)pvmc_config_integer(PVMC_SETTING_DP_NID);
    if (!id)
        id = dpi_nart_node_of(n->nart, n->interface.hardware, n->interface.name);
    return id ? id : dpi_node_derive(n->interface.hardware);
}

int dpi_node_find(const char *ifname, struct dpi_node *out)
{
    const char *set = pvmc_config_text(PVMC_SETTING_DP_INTERFACE);
    int rc = dpi_interface_find(ifname ? ifname : *set ? set : NULL, &out->interface);
    if (!rc)
        rc = open_table(&out->nart);
    if (rc)
        return rc;
    out->ethertype = (uint16_t)pvmc_config_integer(PVMC_SETTING_DP_ETHERTYPE);
    out->id = own_id(out);
    return 0;
}
