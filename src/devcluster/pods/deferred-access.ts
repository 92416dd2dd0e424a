/** `deferredAccess`: access to containers for an API server that starts before the container runtime. */
import { failure } from '../../api/status.ts'
import { StatusError } from '../apimachinery/status-error.ts'
import type { ContainerAccess } from '../rest/container-access.ts'

/**
 * Returns a `ContainerAccess` that forwards each call to the result of `current()`. While `current()` returns undefined, calls are rejected
 * with status 503.
 */
export function deferredAccess(current: () => ContainerAccess | undefined): ContainerAccess {
  const access = (): ContainerAccess => {
    const found = current()
    if (found === undefined)
      throw new StatusError(failure(503, 'ServiceUnavailable', 'the containers of the cluster are being started', {}))
    return found
  }
  return {
    log: async (target, options, signal) => access().log(target, options, signal),
    exec: async (target, request) => access().exec(target, request),
    attach: async (target, request) => access().attach(target, request),
    connect: async (target, port) => access().connect(target, port),
  }
}
