/** `PodContext`: the dependencies that all Pods that run as processes share. */
import type { Clock } from '../../../runtime/clock.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { PodDriver } from '../driver.ts'
import { ContainerLogs } from '../logs/container-logs.ts'
import type { NodeDns } from '../volumes/resolv-conf.ts'
import type { ChangeOwnership, SetGroup } from '../volumes/ownership.ts'
import type { ClusterObjects } from './cluster-objects.ts'
import type { Images } from './images.ts'

/** The host name and the hosts file of the node, for Pods with `hostNetwork`. The node is this machine. */
export interface NodeHost {
  readonly hostname: string
  /** The content of /etc/hosts. */
  readonly hosts: string
}

export interface PodContext {
  readonly driver: PodDriver
  /** The folder for volumes and logs. */
  readonly stateFolder: string
  readonly objects: ClusterObjects
  readonly images: Images
  readonly dns: NodeDns
  readonly node: NodeHost
  /**
   * As root of the user namespace, changes the owners and permissions of files. Default: a function that has the permissions of this
   * process.
   */
  readonly changeOwnership?: ChangeOwnership
  /**
   * As root of the user namespace, sets the group of all files of a volume. Default: a function that has the permissions of this process.
   */
  readonly setGroup?: SetGroup
  /**
   * Removes a folder whose files may belong to other users. If this function is set, it has the permissions of root in the user namespace
   * of the Pods. Default: a function that has only the permissions of this process.
   */
  readonly removeFolder?: (path: string) => Promise<void>
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
}

/** Opens the logs of a container. */
export function logsOf(
  { stateFolder, clock, logger }: Pick<PodContext, 'stateFolder' | 'clock' | 'logger'>,
  podUid: string,
  container: string,
): Promise<ContainerLogs> {
  const onProblem = (error: Error): void => logger.warn({ err: error, podUid, container }, 'the log of a container is incomplete')
  return ContainerLogs.open({ stateFolder, podUid, container, clock, onProblem })
}
