/** `prepareHostPath`: checks or creates the file or folder of a hostPath volume (k8s.io/kubernetes/pkg/volume/hostpath). */
import type { Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { makeFolder, unlessMissing } from './file-system.ts'

export interface HostPathSource {
  readonly path: string
  /** The type of the hostPath. Default: nothing is checked, and if the path is missing, a folder is created. */
  readonly type?: string
}

/** A type of a hostPath: a check, the name of the type in messages, and a function that creates a missing file or folder. */
interface HostPathType {
  readonly matches: (stats: Stats) => boolean
  readonly word: string
  readonly create?: (path: string) => Promise<void>
}

const folder: HostPathType = { matches: (stats) => stats.isDirectory(), word: 'directory' }
const file: HostPathType = { matches: (stats) => stats.isFile(), word: 'file' }
const types: ReadonlyMap<string, HostPathType> = new Map<string, HostPathType>([
  ['DirectoryOrCreate', { ...folder, create: (path) => makeFolder(path, 0o755) }],
  ['Directory', folder],
  ['FileOrCreate', { ...file, create: makeFile }],
  ['File', file],
  ['Socket', { matches: (stats) => stats.isSocket(), word: 'socket file' }],
  ['CharDevice', { matches: (stats) => stats.isCharacterDevice(), word: 'character device' }],
  ['BlockDevice', { matches: (stats) => stats.isBlockDevice(), word: 'block device' }],
])

/**
 * Checks the type of a hostPath, and resolves with its path. If the path is missing, the type determines what is created:
 *
 * - `DirectoryOrCreate`: a folder.
 * - `FileOrCreate`: an empty file.
 * - No type: a folder, as container runtimes do (github.com/containerd/containerd, internal/cri/opts: WithMounts).
 * - Any other type: nothing. The check fails.
 *
 * @throws {Error} with the message of the kubelet (k8s.io/kubernetes/pkg/volume/hostpath: SetUp, checkTypeInternal).
 */
export async function prepareHostPath({ path, type = '' }: HostPathSource): Promise<string> {
  if (path.split('/').includes('..')) throw new Error(`invalid HostPath \`${path}\`: must not contain '..'`)
  if (!isAbsolute(path)) throw new Error(`invalid HostPath \`${path}\`: must be an absolute path`)
  const stats = await unlessMissing(stat(path))
  if (type === '') {
    if (stats === undefined) await makeFolder(path, 0o755)
    return path
  }
  const expected = types.get(type)
  if (expected === undefined) throw new Error(`${type} is an invalid volume type`)
  if (stats === undefined && expected.create !== undefined) await expected.create(path)
  else if (stats === undefined || !expected.matches(stats)) throw new Error(`hostPath type check failed: ${path} is not a ${expected.word}`)
  return path
}

async function makeFile(path: string): Promise<void> {
  const handle = await open(path, 'a', 0o644)
  await handle.close()
}
