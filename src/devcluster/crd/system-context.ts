/** The request context for writes that the embedded API server itself makes. */
import type { RequestContext } from '../apimachinery/request-context.ts'

export function systemContext(signal: AbortSignal): RequestContext {
  return {
    user: { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
    dryRun: false,
    fieldManager: 'kube-apiserver',
    fieldValidation: 'Ignore',
    userAgent: 'kube-apiserver',
    warn: () => undefined,
    signal,
  }
}
