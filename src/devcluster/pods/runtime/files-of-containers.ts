/**
 * Functions that change and remove files of containers. In a user namespace, users other than root are subordinate ids of the developer
 * (subuid(5)). Only a program in the namespace can change the files of such users.
 */
import { runProgram } from '../namespaces/programs.ts'
import type { ChangeOwnership, SetGroup } from '../volumes/ownership.ts'
import { removeFolder } from '../volumes/remove-folder.ts'

/**
 * Returns a function that removes a folder. The function runs rm(1) with the command prefix `prefix`. A command with this prefix runs as
 * root in the user namespace of the containers.
 */
export function folderRemover(prefix: readonly string[]): (path: string) => Promise<void> {
  return (path) => removeFolder(path, prefix)
}

/**
 * Returns a function that changes owners and permissions. Like the kubelet, the function ignores errors. For example, an id that does not
 * exist in the user namespace cannot become the owner of a file.
 */
export function ownershipChanger(prefix: readonly string[]): ChangeOwnership {
  return async (changes) => {
    for (const { path, uid, gid, mode } of changes) {
      const owner = `${uid ?? ''}${gid === undefined ? '' : `:${gid}`}`
      if (owner !== '') await runIn(prefix, ['chown', '--no-dereference', '--', owner, path]).catch(() => undefined)
      if (mode !== undefined) await runIn(prefix, ['chmod', mode.toString(8), '--', path]).catch(() => undefined)
    }
  }
}

/**
 * Sets the group and the permissions of all files in the folder `root`, and then those of `root`. Symbolic links are not followed. Errors
 * of single files are ignored. `files` and `folders` are modes for chmod(1). If `root` already has the group and the permissions in
 * `sufficient`, nothing is changed. If `sufficient` is empty, the files are always changed.
 */
const setGroupScript = `
root=$1 group=$2 files=$3 folders=$4 sufficient=$5
[ -z "$sufficient" ] || [ -z "$(find "$root" -maxdepth 0 -gid "$group" -perm "-$sufficient")" ] || exit 0
find "$root" -mindepth 1 -type l -exec chgrp -h -- "$group" {} + \\
  -o -type d -exec chgrp -- "$group" {} + -exec chmod "$folders" -- {} + \\
  -o -exec chgrp -- "$group" {} + -exec chmod "$files" -- {} + || :
chgrp -- "$group" "$root" && chmod "$folders" -- "$root" || :`

/**
 * Returns a function that sets the group and the permissions of the files of a volume, like `setGroup`. The function runs `setGroupScript`
 * with the command prefix `prefix`, i.e. as root in the user namespace of the containers. Files in folders that this process cannot read
 * are therefore also changed.
 */
export function groupSetter(prefix: readonly string[]): SetGroup {
  return async (root, gid, { isReadOnly, policy }) => {
    const [files, folders, bits] = isReadOnly ? ['ug+r', 'ug+rx,g+s', '2550'] : ['ug+rw', 'ug+rwx,g+s', '2770']
    const sufficient = policy === 'OnRootMismatch' ? bits : ''
    await runIn(prefix, ['sh', '-c', setGroupScript, 'sh', root, String(gid), files, folders, sufficient])
  }
}

async function runIn(prefix: readonly string[], command: readonly string[]): Promise<void> {
  await runProgram([...prefix, ...command])
}
