/* pack.h - what the pvm_pk* calls and pvm_packf() share. */
#ifndef PVMI_PACK_H
#define PVMI_PACK_H

/* Into the active send buffer, as pvmc_message_pack() and ..._pack_string(); PvmNoBuf if there is none. */
int pvmi_pack(int type, const void *data, int n, int stride);
int pvmi_pack_string(const char *text);

#endif
