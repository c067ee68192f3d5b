/* own_path.h - where this daemon's program is: it starts itself again in other roles, and finds what is installed. */
#ifndef PVMD_OWN_PATH_H
#define PVMD_OWN_PATH_H

/* This daemon's own program file. Static storage. */
const char *pvmd_own_path(void);

#endif
