/*
 * name.h - a group's name in a message: int length, then the bytes. Both need no more room than the reader has.
 */
#ifndef PVMI_NAME_H
#define PVMI_NAME_H

int pvmi_name_pack(const char *name);

/* PvmBadMsg when it is empty or longer than size - 1 bytes, or has a NUL inside. */
int pvmi_name_unpack(char *name, int size);

/* PvmNullGroup for NULL and "", PvmBadParam for one that is too long. */
int pvmi_name_check(const char *name);

#endif
