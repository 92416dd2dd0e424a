/** `MountTable`: the mounts of a process (proc(5): /proc/PID/mountinfo). */
import { readFile } from 'node:fs/promises'

interface MountPoint {
  readonly path: string
  readonly type: string
  readonly options: readonly string[]
}

/** The types of mounts that container runtimes and package managers make for their own purposes. There can be hundreds of such mounts. */
const internalTypes = new Set(['overlay', 'nsfs', 'squashfs'])

/**
 * The mount options that a remount must preserve. If a user namespace inherits a mount with such an option, the kernel refuses a remount
 * without the option (mount_namespaces(7)).
 */
const lockedOptions = new Set(['nosuid', 'nodev', 'noexec', 'noatime', 'nodiratime', 'relatime'])

export class MountTable {
  readonly #mounts: readonly MountPoint[]

  constructor(text: string) {
    this.#mounts = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [, , , , path = '', options = '', ...rest] = line.split(' ')
        // A hyphen ends the optional fields. The next field is the type of the mount.
        return { path: unescape(path), type: rest[rest.indexOf('-') + 1] ?? '', options: options.split(',') }
      })
  }

  static async of(pid: number): Promise<MountTable> {
    return new MountTable(await readFile(`/proc/${pid}/mountinfo`, 'utf8'))
  }

  /** The paths of all mounts, except for mounts of internal types. */
  get mountPoints(): readonly string[] {
    return this.#mounts.filter(({ type }) => !internalTypes.has(type)).map(({ path }) => path)
  }

  /** Returns true when something is mounted at the path. */
  has(path: string): boolean {
    return this.#mounts.some((mount) => mount.path === path)
  }

  /** Returns the options that a read-only bind mount of `path` must preserve. `path` must not contain a symbolic link. */
  optionsToKeep(path: string): readonly string[] {
    // If two mounts have the same path, the later mount covers the earlier mount.
    const mount = this.#mounts.reduce<MountPoint | undefined>((best, one) => {
      return isWithin(path, one.path) && one.path.length >= (best?.path.length ?? 0) ? one : best
    }, undefined)
    return (mount?.options ?? []).filter((option) => lockedOptions.has(option))
  }
}

/** Returns true when `path` is `folder` or is below `folder`. Both paths must be absolute. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

/** Decodes a path of /proc/PID/mountinfo, in which spaces, tabs, newlines and backslashes are octal numbers. */
function unescape(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

export interface FstabEntry {
  readonly source: string
  readonly target: string
  /** Default: `none`, the type of a bind mount. */
  readonly type?: string
  readonly options: readonly string[]
}

/** Returns a table for `mount --all --fstab` (fstab(5)). */
export function fstab(entries: readonly FstabEntry[]): string {
  return entries
    .map(({ source, target, type = 'none', options }) => `${escape(source)} ${escape(target)} ${type} ${options.join(',')}\n`)
    .join('')
}

function escape(path: string): string {
  return path.replace(/[\s\\#]/g, (character) => {
    return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  })
}
