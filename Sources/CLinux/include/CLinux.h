// Calls of Linux and glibc that Swift's Glibc module does not show, a header for each topic.
#include "files.h"
#include "network.h"
#include "filesystems.h"
#include "process.h"
#include "secrets.h"
#include "xattrs.h"
