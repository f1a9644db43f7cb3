#!/bin/sh
# The first process of a machine of user-mode Linux: mounts its one disk at /mnt/disk, runs a script and takes the power
# away, so that nothing is written back and nothing is unmounted. The other files are those of the machine around it.
# The kernel's command line has given it: script, output, status (paths) and type (of the disk's file system).
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/mnt
mount -t proc none /proc
mount -t sysfs none /sys
for module in fat vfat nls_cp437 nls_ascii nls_iso8859-1 nls_utf8 fuse; do
  insmod "$(find "/usr/lib/uml/modules/$(uname -r)" -name "$module.ko")"
done
mount -t tmpfs none /mnt
mkdir /mnt/disk /mnt/mounted
# Debian's kernel for such machines has no exFAT of its own.
case "$type" in
exfat) mount.exfat-fuse /dev/ubda /mnt/disk ;;
*) mount -t "$type" /dev/ubda /mnt/disk ;;
esac && sh -eu "$script" >"$output" 2>&1
echo $? >"$status"
echo o >/proc/sysrq-trigger
sleep 60
