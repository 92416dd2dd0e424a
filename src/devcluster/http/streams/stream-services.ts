/** The dependencies of the functions that handle requests for the subresources log, exec, attach and portforward of a Pod. */
import type { Clock } from '../../../runtime/clock.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { ContainerAccess } from '../../rest/container-access.ts'

export interface StreamServices {
  readonly containers: ContainerAccess
  readonly clock: Clock
  readonly logger: Logger
}
