/* files.h - what a test may leave behind in the file system: nothing but the daemons' logs. */
#ifndef FILES_H
#define FILES_H

#include <stddef.h>

struct files_snapshot;

/* Files and sockets in a folder whose names begin with "pvm", as all of PVM do. */
struct files_snapshot *files_snapshot_take(const char *folder);

/* Prints each entry that is in the folder now and not in the snapshot; returns their number. Frees the snapshot. */
int files_snapshot_compare(struct files_snapshot *before);

/* Prints each entry at or below the folder that is neither a folder nor a daemon's log (pvml.*); returns their number.
 */
int files_left(const char *folder);

/* Prints every non-empty file at or below the folder whose name starts with `prefix`; returns their number. */
int files_show(const char *folder, const char *prefix, const char *heading);

/* Removes the folder and all below it. */
void files_remove(const char *folder);

#endif
