/**
 * `AtomicWriter`: writes the files of a volume so that a container never sees the files of two versions at the same time
 * (k8s.io/kubernetes/pkg/volume/util: AtomicWriter). A volume contains:
 *
 * - a folder with the current version of the files. The name of the folder contains the time at which the folder was created.
 * - `..data`, a symbolic link to this folder
 * - for each file or folder at the top level of the current version, a symbolic link with the same name to `..data/NAME`
 *
 * An update creates a new folder and a link to the new folder. Renaming this link to `..data` then replaces the old link atomically.
 */
import { hash } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import type { Clock } from '../../../runtime/clock.ts'
import { codeOf, targetOf, unlessMissing } from './file-system.ts'
import type { ChangeOwnership } from './ownership.ts'

/** A file in a volume. */
export interface ProjectedFile {
  readonly data: Buffer
  /** The permissions. */
  readonly mode: number
  /** The uid of the owner. Default: the user of this process. */
  readonly uid?: number
}

export interface AtomicWriterOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly changeOwnership: ChangeOwnership
}

const [dataName, newDataName] = ['..data', '..data_tmp']
/** Matches the name of a folder that contains one version of the files. */
const versionName = /^\.\.\d{4}(_\d\d){5}\.\d+$/
const [maxNameBytes, maxPathBytes] = [255, 4096]

/** The caller must not call `write` before the previous call has ended. */
export class AtomicWriter {
  readonly #folder: string
  readonly #options: AtomicWriterOptions
  /** The hash of the files that `write` has written last. */
  #written: string | undefined

  /** `folder` must exist. */
  constructor(folder: string, options: AtomicWriterOptions) {
    this.#folder = folder
    this.#options = options
  }

  /**
   * Replaces the files of the volume by `files`. The keys of `files` are relative paths. `setPermissions` is called after the files are
   * written, and before they become visible. If the files are the same as in the previous successful call, only missing links are created,
   * and `setPermissions` is not called.
   *
   * @throws {Error} with the message of the kubelet when a path is invalid. The visible files then do not change.
   */
  async write(files: ReadonlyMap<string, ProjectedFile>, setPermissions: () => Promise<void>): Promise<void> {
    const payload = cleanPayload(files)
    const link = await targetOf(join(this.#folder, dataName))
    // Without mount namespaces, a container can replace the link `..data`. Therefore, the target of the link is removed only if the target
    // has the name of a version folder.
    const old = link !== undefined && versionName.test(link) ? join(this.#folder, link) : undefined
    const names = new Set([...payload.keys()].map((path) => path.split('/')[0]!))
    const stale = old === undefined ? [] : ((await unlessMissing(readdir(old))) ?? []).filter((name) => !names.has(name))
    const digest = digestOf(payload)
    const isChanged = old === undefined || digest !== this.#written
    if (isChanged) await this.#publish(payload, setPermissions)
    await this.#link(names, payload)
    for (const name of stale) await this.#unlink(name)
    if (isChanged && old !== undefined) await rm(old, { recursive: true, force: true })
    this.#written = digest
  }

  /** Writes the files into a new folder, and makes `..data` a link to it. */
  async #publish(payload: ReadonlyMap<string, ProjectedFile>, setPermissions: () => Promise<void>): Promise<void> {
    const name = await this.#makeVersionFolder()
    const version = join(this.#folder, name)
    const newLink = join(this.#folder, newDataName)
    try {
      await chmod(version, 0o755)
      for (const [path, { data, mode }] of payload) {
        const file = join(version, path)
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, data, { flag: 'wx', mode: 0o600 })
        await chmod(file, mode & 0o777)
      }
      await this.#setOwners(payload, (path) => join(version, path))
      await setPermissions()
      await rm(newLink, { force: true })
      await symlink(name, newLink)
      await rename(newLink, join(this.#folder, dataName))
    } catch (error) {
      await rm(version, { recursive: true, force: true })
      throw error
    }
  }

  /** Creates the folder of a version. The name of the folder is the time in UTC and a random number. */
  async #makeVersionFolder(): Promise<string> {
    const { clock, random } = this.#options
    const time = new Date(clock.now()).toISOString().slice(0, 19).replace(/[-T:]/g, '_')
    for (;;) {
      const name = `..${time}.${Math.floor(random() * 2 ** 32)}`
      try {
        await mkdir(join(this.#folder, name))
        return name
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
      }
    }
  }

  /** Creates the visible links that are missing in the volume. */
  async #link(names: ReadonlySet<string>, payload: ReadonlyMap<string, ProjectedFile>): Promise<void> {
    const created = new Set<string>()
    for (const name of names) {
      try {
        await symlink(`${dataName}/${name}`, join(this.#folder, name))
        created.add(name)
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
      }
    }
    const own = new Map([...payload].map(([path, file]) => [path.split('/')[0]!, file] as const).filter(([name]) => created.has(name)))
    await this.#setOwners(own, (name) => join(this.#folder, name))
  }

  /**
   * Removes the link to a file that is no longer in the volume. If `name` is a folder instead of a link, the folder is kept, because
   * another volume is mounted there.
   */
  async #unlink(name: string): Promise<void> {
    const path = join(this.#folder, name)
    if ((await targetOf(path)) !== undefined) await unlessMissing(unlink(path))
  }

  async #setOwners(files: ReadonlyMap<string, ProjectedFile>, pathOf: (name: string) => string): Promise<void> {
    const changes = [...files].flatMap(([name, { uid }]) => (uid === undefined ? [] : [{ path: pathOf(name), uid }]))
    if (changes.length > 0) await this.#options.changeOwnership(changes)
  }
}

/** Returns the files, keyed by their cleaned paths (k8s.io/kubernetes/pkg/volume/util: validatePayload). */
function cleanPayload(files: ReadonlyMap<string, ProjectedFile>): ReadonlyMap<string, ProjectedFile> {
  return new Map(
    [...files].map(([path, file]) => {
      checkPath(path)
      return [posix.normalize(path).replace(/\/$/, ''), file]
    }),
  )
}

/** Throws for an invalid path, for example a path to a file outside the volume (k8s.io/kubernetes/pkg/volume/util: validatePath). */
function checkPath(path: string): void {
  if (path === '') throw new Error('invalid path: must not be empty: ""')
  if (path.startsWith('/')) throw new Error(`invalid path: must be relative path: ${path}`)
  if (Buffer.byteLength(path) > maxPathBytes) throw new Error(`invalid path: must be less than or equal to ${maxPathBytes} characters`)
  const names = path.split('/')
  if (names.includes('..')) throw new Error(`invalid path: must not contain '..': ${path}`)
  if (names.some((name) => Buffer.byteLength(name) > maxNameBytes)) {
    throw new Error(`invalid path: filenames must be less than or equal to ${maxNameBytes} characters`)
  }
  // The cleaned path is checked, because `./..data` is the same path as `..data`.
  if (posix.normalize(path).startsWith('..')) throw new Error(`invalid path: must not start with '..': ${path}`)
}

function digestOf(payload: ReadonlyMap<string, ProjectedFile>): string {
  const files = [...payload].map(([path, { data, mode }]) => [path, mode, hash('sha256', data)])
  return hash('sha256', JSON.stringify(files.sort(([a], [b]) => (a! < b! ? -1 : 1))))
}
