/** `startProcesses` starts the runtime that runs the containers of the embedded cluster as processes of this machine. */
import type { Socket } from 'node:net'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../api/errors.ts'
import type { Client } from '../../client/client.ts'
import type { ControllerDefinition } from '../../controller/builder.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { ContainerRuntime } from '../controllers/kubelet/container-runtime.ts'
import type { ContainerAccess } from '../rest/container-access.ts'
import type { PodDriver } from './driver.ts'
import { createNamespacesDriver } from './namespaces/namespaces-driver.ts'
import type { NamespacesDriver } from './namespaces/namespaces-driver.ts'
import { defaultAddresses } from './network/addresses.ts'
import { ClusterNetwork } from './network/cluster-network.ts'
import { createPlainDriver } from './plain/plain-driver.ts'
import { ClusterObjects } from './runtime/cluster-objects.ts'
import { folderRemover, groupSetter, ownershipChanger } from './runtime/files-of-containers.ts'
import { Images } from './runtime/images.ts'
import type { PodContext } from './runtime/pod-context.ts'
import { ProcessRuntime } from './runtime/process-runtime.ts'
import { serviceProxy } from './runtime/service-proxy.ts'
import { cleanState, podCleaner, volumeCleaner } from './runtime/state-cleaner.ts'
import { removeFolder } from './volumes/remove-folder.ts'

/** The options of Pods that run as processes. */
export interface ProcessPodsOptions {
  /** Folders with the file systems of images, keyed by the image name that Pods use. Default: none. */
  readonly images?: Readonly<Record<string, string>>
  /** The folder for volumes and logs. */
  readonly stateFolder: string
}

export interface StartProcessesOptions extends ProcessPodsOptions {
  /** If true, the files of volumes and logs are kept for the next start. If false, `close` removes these files. */
  readonly keepFiles: boolean
  readonly client: Client
  /** Serves a connection from a Pod to the API server. */
  readonly acceptApiServer: (socket: Socket) => void
  readonly logger: Logger
  readonly clock: Clock
  readonly random: () => number
}

/** The mode in which the cluster runs Pods as processes, and the reason for the mode `plain`. */
export interface ProcessPods {
  /**
   * In the mode `namespaces`, each Pod has a separate network and file system. In the mode `plain`, Pods use the network and the file
   * system of this machine.
   */
  readonly mode: 'namespaces' | 'plain'
  /** The reason why the mode is `plain`. Undefined in the mode `namespaces`. */
  readonly plainBecause: string | undefined
}

export interface Processes extends ProcessPods {
  readonly runtime: ContainerRuntime
  readonly access: ContainerAccess
  /** The controllers that remove the files of deleted Pods and PersistentVolumes, and that keep the network up to date. */
  readonly controllers: readonly ControllerDefinition[]
  /**
   * Ends all processes of Pods. If `keepFiles` is false, also removes the files of volumes and logs. Resolves when the processes have ended
   * and the files are removed.
   */
  close(): Promise<void>
}

const clusterDomain = 'cluster.local'

/**
 * Starts the driver, the container runtime, and, in the mode `namespaces`, the network of the cluster. If the driver `namespaces` cannot be
 * created on this machine, the mode is `plain`.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the folder of an image cannot be used, or when the configuration of an image cannot be
 *   read or is invalid.
 * @throws {ProreusError} `PRO_STATE_FILE` when the mode is `plain` and `stateFolder` cannot be used.
 */
export async function startProcesses(options: StartProcessesOptions): Promise<Processes> {
  const { stateFolder, keepFiles, client, acceptApiServer, logger, clock, random } = options
  const images = await Images.read(options.images ?? {})
  const { driver, plainBecause } = await openDriver(options)
  const network =
    driver.mode === 'namespaces' ? await startNetwork(driver as NamespacesDriver, { acceptApiServer, logger, clock, random }) : undefined
  const rights = rightsOf(driver)
  const cleaning = { stateFolder, ...rights }
  const onProblem = (error: unknown): void => logger.warn({ err: error }, 'files of Pods could not be removed')
  const closeDriver = async (): Promise<void> => {
    await network?.close()
    await driver.close()
  }
  const existing = await cleanState(client, { ...cleaning, onProblem }).catch(async (error: unknown) => {
    await closeDriver()
    throw error
  })
  const runtime = new ProcessRuntime({
    driver,
    stateFolder,
    objects: new ClusterObjects(client),
    images,
    dns: {
      clusterDns: network === undefined ? [] : [defaultAddresses.dns],
      clusterDomain,
      resolvConf: await readFile('/etc/resolv.conf', 'utf8').catch(() => ''),
    },
    node: { hostname: hostname(), hosts: await readFile('/etc/hosts', 'utf8').catch(() => '') },
    ...rights,
    clock,
    random,
    logger,
  })
  return {
    mode: driver.mode,
    plainBecause,
    runtime,
    access: runtime.access,
    controllers: [
      podCleaner(cleaning, existing, (uid) => runtime.runs(uid)),
      volumeCleaner(cleaning, existing),
      ...(network === undefined ? [] : serviceProxy(network)),
    ],
    async close() {
      await runtime.close()
      // Files that belong to subordinate ids can be removed only while the namespaces exist. The other files are removed after the driver
      // has been closed.
      if (!keepFiles) await rights.removeFolder?.(stateFolder).catch(onProblem)
      await closeDriver()
      if (!keepFiles) await removeFolder(stateFolder).catch(onProblem)
    },
  }
}

/** Creates the driver `namespaces`. If its creation fails, creates the driver `plain`. */
async function openDriver({
  stateFolder,
}: StartProcessesOptions): Promise<{ readonly driver: PodDriver; readonly plainBecause: string | undefined }> {
  try {
    return { driver: await createNamespacesDriver(), plainBecause: undefined }
  } catch (error) {
    const driver = await createPlainDriver({ stateFolder: join(stateFolder, 'processes') })
    return { driver, plainBecause: messageOf(error) }
  }
}

async function startNetwork(
  driver: NamespacesDriver,
  options: Pick<StartProcessesOptions, 'acceptApiServer' | 'logger' | 'clock' | 'random'>,
): Promise<ClusterNetwork> {
  try {
    return await ClusterNetwork.start({ ...options, enterNetwork: driver.enterNetwork() })
  } catch (error) {
    await driver.close()
    throw error
  }
}

/**
 * If the containers run in a user namespace with subordinate ids (subuid(5)), returns functions that change and remove files as root of
 * this user namespace. Otherwise, returns an empty object, and this process changes and removes the files with its own permissions.
 */
function rightsOf(driver: PodDriver): Pick<PodContext, 'changeOwnership' | 'setGroup' | 'removeFolder'> {
  if (driver.mode !== 'namespaces' || (driver as NamespacesDriver).ids !== 'subordinate') return {}
  const prefix = (driver as NamespacesDriver).enterNetwork()
  return { changeOwnership: ownershipChanger(prefix), setGroup: groupSetter(prefix), removeFolder: folderRemover(prefix) }
}
