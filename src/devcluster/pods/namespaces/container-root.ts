/**
 * `ContainerRoot`: the folder of one container. It contains the folder `root`, at which the file system of the container is mounted. It
 * also contains the files for /dev, the tables of mounts, and the upper folders of the overlays. The upper folders store the changes of the
 * container.
 */
import { chownSync, existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterSandbox } from './cluster-sandbox.ts'
import { makeFolder } from './make-folder.ts'
import type { FstabEntry, MountTable } from './mount-table.ts'
import { fstab } from './mount-table.ts'
import type { MountSupport } from './mount-support.ts'
import type { BindEntry, OverlayEntry, RootEntry } from './root-plan.ts'
import { RootView } from './root-view.ts'

/** The devices that every container has (opencontainers/runtime-spec: config-linux.md, Default Devices). */
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const deviceLinks = {
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
  ptmx: 'pts/ptmx',
}

/**
 * The files in /proc by which a process could change the whole machine. They are read-only in containers
 * (github.com/containerd/containerd/pkg/oci: populateDefaultUnixSpec).
 */
const readOnlyProcFiles = ['bus', 'fs', 'irq', 'sys', 'sysrq-trigger']

/** The characters that a path in the options of an overlay must not contain, because they separate or quote options. */
const separators = /[,:\\"\s]/

export interface ContainerRootOptions {
  readonly cluster: ClusterSandbox
  /** The path of the container's folder, relative to `cluster.directory`. */
  readonly name: string
  /**
   * The path of the folder that is mounted at /dev/shm in all containers of the Pod. The path is valid in the mount namespace of the
   * cluster.
   */
  readonly sharedMemory: string
  readonly entries: readonly RootEntry[]
  readonly mounts: MountTable
  readonly support: MountSupport
  readonly isReadOnly: boolean
}

export class ContainerRoot {
  readonly view = new RootView()
  /** The path of the folder in the mount namespace of the cluster. */
  readonly directory: string
  /** The path at which Proreus reaches the same folder from outside of the mount namespace. */
  readonly files: string
  readonly #options: ContainerRootOptions
  readonly #mounts: FstabEntry[] = []
  #overlays = 0
  #aliases = 0

  /** Creates the folder and all its content except for the mount tables. */
  constructor(options: ContainerRootOptions) {
    const { cluster, name, entries, isReadOnly } = options
    this.#options = options
    this.directory = join(cluster.directory, name)
    this.files = join(cluster.files, name)
    makeFolder(join(this.files, 'root'))
    const isReadOnlyOption = isReadOnly ? ['ro'] : []
    const first = entries[0]
    if (first?.kind === 'overlay' && first.path === '/') this.#overlay(first)
    else {
      this.view.add({ path: '/', sources: [join(this.files, 'root')], kind: 'writable' })
      this.#mount(join(this.directory, 'root'), '/', { options: ['bind', ...isReadOnlyOption] })
      for (const entry of entries) this.#add(entry)
    }
    this.#addKernelFiles()
  }

  /**
   * The mount table for the root file system of the container. The volumes and /proc are not in this table, because they have separate
   * tables.
   */
  get fstab(): string {
    return fstab(this.#mounts)
  }

  /**
   * The mount table for /proc in the container. The first process in the PID namespace of the container mounts the entries of this table.
   */
  get procFstab(): string {
    const target = this.pathOf('/proc')
    if (!this.#options.support.proc) return fstab([{ source: '/proc', target, options: ['rbind'] }])
    const readOnly = readOnlyProcFiles
      .filter((name) => existsSync(join('/proc', name)))
      .map((name) => ({ source: join(target, name), target: join(target, name), options: ['bind', 'ro'] }))
    return fstab([{ source: 'proc', target, type: 'proc', options: ['nosuid', 'nodev', 'noexec'] }, ...readOnly])
  }

  /** Converts a path in the container to the path of the same file in the mount namespace of the cluster. */
  pathOf(path: string): string {
    return join(this.directory, 'root', path)
  }

  #mount(source: string, path: string, { type, options }: Pick<FstabEntry, 'type' | 'options'>): void {
    this.#mounts.push({ source, target: this.pathOf(path), options, ...(type !== undefined && { type }) })
  }

  #add(entry: RootEntry): void {
    const at = join(this.files, 'root', entry.path)
    if (entry.kind === 'overlay') this.#overlay(entry)
    else if (entry.kind === 'bind') this.#bind(entry)
    else if (entry.kind === 'link') symlinkSync(entry.target, at)
    else makeFolder(at, entry.mode)
  }

  #bind({ path, source, isFolder }: BindEntry): void {
    const at = join(this.files, 'root', path)
    if (isFolder) makeFolder(at)
    else writeFileSync(at, '')
    this.view.add({ path, sources: [source], kind: 'read-only' })
    this.#mount(source, path, { options: [isFolder ? 'rbind' : 'bind', 'ro', ...this.#options.mounts.optionsToKeep(source)] })
  }

  #overlay({ path, source, mode }: OverlayEntry): void {
    const { cluster, isReadOnly } = this.#options
    const number = this.#overlays++
    const [upper, work] = [`upper${number}`, `work${number}`]
    makeFolder(join(this.files, 'root', path))
    makeFolder(join(this.files, work))
    // The folder in the container has the owner and the mode of the upper folder.
    makeFolder(join(this.files, upper), mode)
    if (cluster.ids.kind === 'machine') copyOwner(source, join(this.files, upper))
    const lower = separators.test(source) ? this.#alias(source) : source
    const options = [`lowerdir=${lower}`, `upperdir=${upper}`, `workdir=${work}`]
    // By default, an overlay stores its metadata in extended attributes that only the root user of the machine may set. With the option
    // `userxattr`, the overlay uses attributes that every user may set.
    if (cluster.ids.kind !== 'machine') options.push('userxattr')
    if (isReadOnly) options.push('ro')
    this.view.add({ path, sources: [join(this.files, upper), source], kind: 'overlay' })
    this.#mount('overlay', path, { type: 'overlay', options })
  }

  /**
   * Mounts the folder `source` at a second path in `directory`. Returns the second path, relative to `directory`. The returned path
   * contains no characters that separate or quote the options of an overlay.
   */
  #alias(source: string): string {
    const name = `lower${this.#aliases++}`
    makeFolder(join(this.files, name))
    this.#mounts.push({ source, target: join(this.directory, name), options: ['bind'] })
    return name
  }

  /** Adds /dev and /sys, and the mount point of /proc. */
  #addKernelFiles(): void {
    const dev = join(this.files, 'dev')
    for (const folder of ['', 'pts', 'shm']) makeFolder(join(dev, folder))
    for (const device of devices) writeFileSync(join(dev, device), '')
    for (const [name, target] of Object.entries(deviceLinks)) symlinkSync(target, join(dev, name))
    for (const path of ['/dev', '/proc', '/sys']) makeFolder(this.view.hostPaths(path)[0] ?? '')
    this.view.add({ path: '/dev', sources: [dev], kind: 'writable' })
    for (const path of ['/proc', '/sys']) this.view.add({ path, sources: [], kind: 'kernel' })
    this.#mount(join(this.directory, 'dev'), '/dev', { options: ['bind'] })
    for (const device of devices) this.#mount(`/dev/${device}`, `/dev/${device}`, { options: ['bind'] })
    this.#mount('devpts', '/dev/pts', { type: 'devpts', options: ['newinstance', 'ptmxmode=0666', 'mode=0620', 'nosuid', 'noexec'] })
    this.#mount(this.#options.sharedMemory, '/dev/shm', { options: ['bind'] })
    if (this.#options.support.sysfs) this.#mount('sysfs', '/sys', { type: 'sysfs', options: ['ro', 'nosuid', 'nodev', 'noexec'] })
    else this.#mount('/sys', '/sys', { options: ['rbind'] })
    // The program script(1) creates the terminals of the container. The root folder of script(1) is the root of this machine. Therefore,
    // the container's /dev/pts and /dev/pts/ptmx are also mounted over /dev/pts and /dev/ptmx of this machine. Only the mount namespace of
    // the container has these mounts.
    this.#mounts.push({ source: this.pathOf('/dev/pts'), target: '/dev/pts', options: ['bind'] })
    this.#mounts.push({ source: this.pathOf('/dev/pts/ptmx'), target: '/dev/ptmx', options: ['bind'] })
  }
}

function copyOwner(source: string, copy: string): void {
  const { uid, gid } = statSync(source)
  chownSync(copy, uid, gid)
}
