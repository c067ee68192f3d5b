/*
 * own_path.h - the path of this daemon's program, which starts itself again in other roles and finds what is installed
 * beside it.
 */
#ifndef PVMD_OWN_PATH_H
#define PVMD_OWN_PATH_H

/* This daemon's own program file. Static storage. */
const char *pvmd_own_path(void);

#endif
