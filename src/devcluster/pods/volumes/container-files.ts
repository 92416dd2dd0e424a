/**
 * The files that every container gets: /etc/hosts, /etc/hostname, /etc/resolv.conf and the file for its termination message
 * (k8s.io/kubernetes/pkg/kubelet: makeHostsMount; pkg/kubelet/kuberuntime: makeMounts; github.com/containerd/containerd,
 * internal/cri/server: containerMounts).
 */
import { chmod, writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { Mount } from '../driver.ts'
import type { ReadonlyContainer } from '../environment/sources.ts'
import { makeFolder } from './file-system.ts'
import { pathComponent, podFolder } from './state-folders.ts'

export interface ContainerFilesOptions {
  readonly stateFolder: string
  readonly podUid: string
  /**
   * The restart count of the container. The name of the file for the termination message contains this number, so each run has its own
   * file.
   */
  readonly restartCount: number
  /** The content of /etc/hosts. */
  readonly hosts: string
  /** The name in /etc/hostname. */
  readonly hostname: string
  /** The content of /etc/resolv.conf. */
  readonly resolvConf: string
}

export interface ContainerFiles {
  readonly mounts: readonly Mount[]
  /** The file of this machine into which the container writes its termination message. */
  readonly terminationFile: string
}

const readableByAll = 0o644
const writableByAll = 0o666
/** The default of `terminationMessagePath` in the API (k8s.io/api/core/v1: TerminationMessagePathDefault). */
const defaultTerminationPath = '/dev/termination-log'

/**
 * Writes the files for one start of a container. All containers of a Pod share the files in /etc. These files are rewritten in place,
 * because the mounts of running containers would not show a new file. A file is not mounted if the container mounts a volume at the path of
 * this file.
 */
export async function makeContainerFiles(container: ReadonlyContainer, options: ContainerFilesOptions): Promise<ContainerFiles> {
  const { stateFolder, podUid, restartCount, hosts, hostname, resolvConf } = options
  const folder = podFolder(stateFolder, podUid)
  const ofContainer = join(folder, 'containers', pathComponent(container.name))
  await makeFolder(ofContainer, 0o755)
  const terminationFile = join(ofContainer, `termination-log-${restartCount}`)
  const files = [
    { source: join(folder, 'etc-hosts'), target: '/etc/hosts', content: hosts, mode: readableByAll },
    { source: join(folder, 'etc-hostname'), target: '/etc/hostname', content: `${hostname}\n`, mode: readableByAll },
    { source: join(folder, 'etc-resolv.conf'), target: '/etc/resolv.conf', content: resolvConf, mode: readableByAll },
    { source: terminationFile, target: terminationPathOf(container), content: '', mode: writableByAll },
  ]
  const taken = new Set((container.volumeMounts ?? []).map(({ mountPath }) => posix.resolve('/', mountPath)))
  const mounts: Mount[] = []
  for (const { source, target, content, mode } of files) {
    await writeFile(source, content)
    await chmod(source, mode)
    if (!taken.has(target)) mounts.push({ source, target, isReadOnly: false })
  }
  return { mounts, terminationFile }
}

function terminationPathOf({ terminationMessagePath = '' }: ReadonlyContainer): string {
  return posix.resolve('/', terminationMessagePath || defaultTerminationPath)
}
