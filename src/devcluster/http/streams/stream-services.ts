/** The dependencies of the requests that reach containers. */
import type { Clock } from '../../../runtime/clock.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { ContainerAccess } from '../../rest/container-access.ts'

export interface StreamServices {
  readonly containers: ContainerAccess
  readonly clock: Clock
  readonly logger: Logger
}
