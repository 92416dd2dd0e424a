/** `NamespacesPod`: a Pod whose containers run in Linux namespaces. */
import type { Duplex } from 'node:stream'
import { join } from 'node:path'
import type { ContainerOptions, ContainerProcess, PodSandbox } from '../driver.ts'
import { ContainerStartError } from '../driver.ts'
import { Connector } from './connector.ts'
import { makeFolder } from './make-folder.ts'
import type { ContainerPlace } from './namespaces-container.ts'
import { NamespacesContainer } from './namespaces-container.ts'

export interface NamespacesPodOptions extends Omit<ContainerPlace, 'sharedMemory'> {
  /** Connects within the network of the cluster. */
  readonly connector: Connector
  readonly address: string
  readonly hostNetwork: boolean
  /** Called when the processes, the network and the files of the Pod have been removed. */
  onRemoved(): void
}

export class NamespacesPod implements PodSandbox {
  readonly address: string
  readonly #options: NamespacesPodOptions
  readonly #containers = new Set<Promise<NamespacesContainer>>()
  /** Connects within the network of the Pod. This connector is started at the first connection to a loopback address. */
  #ownConnector: Connector | undefined
  #started = 0
  #removal: Promise<void> | undefined

  /** Creates the Pod's folder. @param options.folder the name of the folder in `cluster.directory` */
  constructor(options: NamespacesPodOptions) {
    this.#options = options
    this.address = options.address
    makeFolder(join(options.cluster.files, options.folder, 'shm'), 0o1777)
  }

  get ended(): Promise<void> {
    return this.#options.namespaces.ended
  }

  async start(container: ContainerOptions): Promise<ContainerProcess> {
    if (this.#removal !== undefined) throw new ContainerStartError('the sandbox of the Pod has been removed')
    const { cluster, namespaces, support, unshare, folder } = this.#options
    const place = {
      ...{ cluster, namespaces, support, unshare },
      folder: join(folder, String(this.#started++)),
      sharedMemory: join(cluster.directory, folder, 'shm'),
    }
    const starting = NamespacesContainer.start(place, container)
    this.#containers.add(starting)
    const forget = (): boolean => this.#containers.delete(starting)
    starting.then(({ removed }) => removed.then(forget), forget)
    return starting
  }

  connect(port: number, host = '127.0.0.1'): Promise<Duplex> {
    if (this.#removal !== undefined) return Promise.reject(new Error('the sandbox of the Pod has been removed'))
    const { connector, hostNetwork, namespaces } = this.#options
    if (hostNetwork || !isLoopback(host)) return connector.connect(port, host)
    this.#ownConnector ??= new Connector(namespaces.enter(['net', 'pid']))
    return this.#ownConnector.connect(port, host)
  }

  remove(): Promise<void> {
    this.#removal ??= this.#remove()
    return this.#removal
  }

  async #remove(): Promise<void> {
    const { cluster, namespaces, folder, onRemoved } = this.#options
    const containers = [...this.#containers]
    await namespaces.close()
    await Promise.all(
      containers.map((starting) =>
        starting.then(
          ({ removed }) => removed,
          () => undefined,
        ),
      ),
    )
    await this.#ownConnector?.close()
    // This call fails if the cluster is ending or has ended. The files then disappear with the cluster.
    await cluster.remove([folder]).catch(() => undefined)
    onRemoved()
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
