/**
 * `createNamespacesDriver`: runs the containers of Pods as processes in Linux namespaces. The driver needs neither root nor a daemon. It
 * needs these Debian packages:
 *
 * - util-linux, mount, iproute2 and hostname
 * - bsdutils, for processes with a terminal
 * - uidmap, for containers whose processes have different users, if Proreus does not run as root
 */
import { isIPv4 } from 'node:net'
import { tmpdir } from 'node:os'
import { ProreusError, messageOf } from '../../../api/errors.ts'
import type { PodDriver, PodSandbox, SandboxOptions } from '../driver.ts'
import type { ClusterSandbox } from './cluster-sandbox.ts'
import { Connector } from './connector.ts'
import type { IdMapping } from './id-mapping.ts'
import type { MountSupport } from './mount-support.ts'
import { tryMounts } from './mount-support.ts'
import { NamespacesPod } from './namespaces-pod.ts'
import { openCluster } from './open-cluster.ts'
import { PodNamespaces } from './pod-namespaces.ts'
import { findProgram } from './programs.ts'
import { ownFolders } from './root-plan.ts'

export interface NamespacesOptions {
  /** The address of the bridge and the length of its prefix. Pods have addresses with the same prefix. Default: 10.244.0.1/16. */
  readonly bridgeAddress?: string
  /**
   * The folder in which the driver creates an empty folder. The driver mounts a file system for its files at the empty folder. When the
   * driver is closed, it removes the empty folder. Default: the temporary folder of this machine.
   */
  readonly temporaryDirectory?: string
}

/** The driver `namespaces`. Other programs of the cluster, such as its DNS server, can run in the network of this driver. */
export interface NamespacesDriver extends PodDriver {
  readonly mode: 'namespaces'
  /**
   * The ids that the users of containers can have. With `single`, each container has only one user: its processes cannot change to another
   * uid. The uid of this one user can be any number.
   */
  readonly ids: IdMapping['kind']
  /**
   * Returns a prefix for a command. With this prefix, the command runs in the network of the cluster, as root in the user namespace of the
   * cluster. The command sees the files of this machine, and inherits the standard streams and other file descriptors, such as an IPC
   * channel. The command is killed in these cases:
   *
   * - The driver is closed.
   * - Proreus dies.
   * - The process that the caller has started with the prefix is killed.
   *
   * @example
   * const [program = '', ...words] = driver.enterNetwork()
   * spawn(program, [...words, process.execPath, 'dns.js'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
   */
  enterNetwork(): readonly string[]
}

export const defaultBridgeAddress = '10.244.0.1/16'

/**
 * Creates the Linux namespaces in which the Pods of the cluster run.
 *
 * @throws {ProreusError} `PRO_PERMISSION` when this machine does not permit the Linux namespaces, or has no program `unshare`. If the
 *   programs that create the namespaces fail, the message contains their errors.
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the address of the bridge is invalid.
 */
export async function createNamespacesDriver(options: NamespacesOptions = {}): Promise<NamespacesDriver> {
  const { bridgeAddress = defaultBridgeAddress, temporaryDirectory = tmpdir() } = options
  const [gateway = '', prefix = ''] = bridgeAddress.split('/')
  const prefixLength = Number(prefix)
  if (!isIPv4(gateway) || !/^\d+$/.test(prefix) || prefixLength < 1 || prefixLength > 30)
    throw new ProreusError(
      'PRO_CONFIG_INVALID',
      `bridgeAddress: found ${bridgeAddress}, expected an IPv4 address and a prefix length, such as ${defaultBridgeAddress}`,
    )
  const { cluster, failures } = await openCluster({ bridgeAddress, temporaryDirectory })
  if (cluster === undefined) {
    const errors = failures.map(({ error }) => error)
    throw new ProreusError('PRO_PERMISSION', `this machine does not permit the namespaces of Pods: ${errors.map(messageOf).join('; ')}`, {
      cause: errors[0],
    })
  }
  try {
    const unshare = await findProgram('unshare')
    if (unshare === undefined) throw new ProreusError('PRO_PERMISSION', 'the program unshare is missing; install the package util-linux')
    return new Driver({ cluster, support: await tryMounts(cluster), unshare, gateway, prefixLength })
  } catch (error) {
    await cluster.close()
    throw error
  }
}

interface DriverOptions {
  readonly cluster: ClusterSandbox
  readonly support: MountSupport
  readonly unshare: string
  /** The address of the bridge. */
  readonly gateway: string
  readonly prefixLength: number
}

class Driver implements NamespacesDriver {
  readonly mode = 'namespaces'
  readonly ownFolders = ownFolders
  readonly #options: DriverOptions
  readonly #connector: Connector
  readonly #pods = new Set<NamespacesPod>()
  #created = 0

  constructor(options: DriverOptions) {
    this.#options = options
    this.#connector = new Connector(options.cluster.enter(['net', 'pid']))
  }

  get ids(): IdMapping['kind'] {
    return this.#options.cluster.ids.kind
  }

  enterNetwork(): readonly string[] {
    // nsenter itself stays outside of the PID namespace, and its child runs in the namespace. Because of setpriv, the kernel kills the
    // child when nsenter dies.
    return [...this.#options.cluster.enter(['net', 'pid']), 'setpriv', '--pdeathsig', 'KILL', '--']
  }

  async createSandbox({ hostname, address, hostNetwork }: SandboxOptions): Promise<PodSandbox> {
    const { cluster, support, unshare, gateway, prefixLength } = this.#options
    const name = `pod${this.#created++}`
    const network = hostNetwork ? undefined : { address, prefixLength, gateway }
    const namespaces = await PodNamespaces.open(cluster, { hostname, link: name, network })
    try {
      const pod = new NamespacesPod({
        ...{ cluster, namespaces, support, unshare, hostNetwork },
        connector: this.#connector,
        address: hostNetwork ? gateway : address,
        folder: name,
        onRemoved: () => this.#pods.delete(pod),
      })
      this.#pods.add(pod)
      return pod
    } catch (error) {
      // `NamespacesPod` throws, for example, when the file system in memory is full. The namespaces must then be closed, because the next
      // sandbox of the Pod gets the same address.
      await namespaces.close()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#options.cluster.close()
    await Promise.all([this.#connector.close(), ...[...this.#pods].map((pod) => pod.remove())])
  }
}
