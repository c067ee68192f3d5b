/*
 * name.h - a group's name in a message: int length, then the bytes.
 */
#ifndef PVMG_NAME_H
#define PVMG_NAME_H

int pvmg_name_pack(const char *name);

/* PvmBadMsg when the name is empty, longer than size - 1 bytes, or contains a NUL. */
int pvmg_name_unpack(char *name, int size);

/* PvmNullGroup for NULL and "", PvmBadParam for a name that is too long. */
int pvmg_name_check(const char *name);

#endif
