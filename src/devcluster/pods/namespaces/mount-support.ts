/**
 * `MountSupport`: the mounts that this machine permits. To find the permitted mounts, `tryMounts` mounts the file system of a container as
 * a trial.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterSandbox } from './cluster-sandbox.ts'
import { ContainerRoot } from './container-root.ts'
import { makeFolder } from './make-folder.ts'
import { MountTable } from './mount-table.ts'
import type { RootEntry } from './root-plan.ts'
import { planRoot } from './root-plan.ts'

export interface MountSupport {
  /**
   * False when /proc cannot be mounted for a container, e.g. because mounts hide parts of /proc. Containers then see /proc of this machine.
   */
  readonly proc: boolean
  /** False when /sys cannot be mounted for a container. Containers then see /sys of this machine. */
  readonly sysfs: boolean
  /** False when no overlay can be mounted at all. */
  readonly overlay: boolean
  /** The folders of this machine that cannot be mounted as overlays. Containers see the folders themselves, read-only. */
  readonly withoutOverlay: ReadonlySet<string>
  /** The folders and files of this machine that cannot be mounted at all. Containers do not see them. */
  readonly hidden: ReadonlySet<string>
}

/** The assumption of the first trial: this machine permits all mounts. */
const everything: MountSupport = { proc: true, sysfs: true, overlay: true, withoutOverlay: new Set(), hidden: new Set() }

/** Tries to make each mount of a container, and then prints the table of all mounts. Argument: the folder of the container. */
const trialScript = `
cd -- "$1"
mount -i -n -a -T root.fstab 2>/dev/null
mount -i -n -a -T proc.fstab 2>/dev/null
cat /proc/self/mountinfo`

export async function tryMounts(cluster: ClusterSandbox): Promise<MountSupport> {
  const first = await trial(cluster, everything, 'trial1')
  // If the overlay of a folder failed in the first trial, the second trial mounts this folder without an overlay.
  return first === everything ? everything : trial(cluster, first, 'trial2')
}

async function trial(cluster: ClusterSandbox, support: MountSupport, name: string): Promise<MountSupport> {
  const mounts = await MountTable.of(cluster.pid)
  const entries = await planContainerRoot('/', support, mounts.mountPoints)
  makeFolder(join(cluster.files, name, 'shm'))
  const sharedMemory = join(cluster.directory, name, 'shm')
  const root = new ContainerRoot({ cluster, name, sharedMemory, entries, mounts, support, isReadOnly: false })
  writeFileSync(join(root.files, 'root.fstab'), root.fstab)
  writeFileSync(join(root.files, 'proc.fstab'), root.procFstab)
  const command = ['unshare', '--mount', 'sh', '-c', trialScript, 'sh', root.directory]
  const made = new MountTable(await cluster.run(['mount', 'net', 'pid'], command))
  await cluster.remove([name])
  const isMade = (path: string): boolean => made.has(root.pathOf(path))
  const failed = (kind: 'overlay' | 'bind'): string[] =>
    entries.flatMap((entry) => (entry.kind === kind && !isMade(entry.path) ? [entry.source] : []))
  const [withoutOverlay, hidden] = [failed('overlay'), failed('bind')]
  if (isMade('/proc') && isMade('/sys') && withoutOverlay.length === 0 && hidden.length === 0) return support
  return {
    proc: support.proc && isMade('/proc'),
    sysfs: support.sysfs && isMade('/sys'),
    overlay: entries.some(({ kind, path }) => kind === 'overlay' && isMade(path)),
    withoutOverlay: new Set([...support.withoutOverlay, ...withoutOverlay]),
    hidden: new Set([...support.hidden, ...hidden]),
  }
}

/**
 * Plans the root folder of a container: returns the folders, files and links that the root contains.
 *
 * @param source the folder whose content the container sees: the root folder of this machine, or the folder of an image
 */
export function planContainerRoot(source: string, support: MountSupport, mountPoints: readonly string[]): Promise<readonly RootEntry[]> {
  return planRoot({
    source,
    mountPoints,
    // The root of this machine contains mounts, which an overlay would hide.
    isWithoutOverlay: (folder) => folder === '/' || !support.overlay || support.withoutOverlay.has(folder),
    isHidden: (path) => support.hidden.has(path),
  })
}
