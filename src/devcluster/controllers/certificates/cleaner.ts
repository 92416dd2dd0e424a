/** Deletes old CertificateSigningRequests (k8s.io/kubernetes/pkg/controller/certificates/cleaner). */
import type { DeepReadonly } from '../../../api/json.ts'
import { certificates } from '../../../api/kubernetes/certificates.ts'
import { readCertificate } from '../../../certs/certificate.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import { requeueAt } from '../requeue-at.ts'
import { retryRefused } from '../retry-refused.ts'

type SigningRequest = DeepReadonly<certificates.CertificateSigningRequest>

const hour = 3_600_000
/** Time in milliseconds for which the controller keeps a request that has been denied, has failed, or has a certificate. */
const settledMs = hour
/** Time in milliseconds for which the controller keeps a request that is pending, or that is approved but has no certificate. */
const pendingMs = 24 * hour

export function cleanerController(): ControllerDefinition {
  return defineController(certificates.certificateSigningRequest, {
    name: 'csrcleaner',
    resyncPeriodMs: 0,
    reconcile: retryRefused(deleteOld),
  })
}

async function deleteOld(object: SigningRequest, context: ReconcileContext): Promise<Result> {
  const { metadata } = object
  const expiry = expiryOf(object)
  if (metadata.deletionTimestamp !== undefined || !Number.isFinite(expiry)) return undefined
  if (expiry > context.clock.now()) return requeueAt(expiry, context)
  const options = { preconditions: { uid: metadata.uid } }
  await context.client.delete(certificates.certificateSigningRequest, metadata, options).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  return undefined
}

/** Returns the time at which a request expires and is deleted, in milliseconds since 1970; Infinity for a request that never expires. */
function expiryOf({ metadata, status }: SigningRequest): number {
  const { conditions = [], certificate } = status ?? {}
  if (conditions.length === 0) return Date.parse(metadata.creationTimestamp) + pendingMs
  const times = conditions.flatMap(({ type, lastUpdateTime }) => {
    const updated = Date.parse(lastUpdateTime ?? '')
    if (type === 'Denied' || type === 'Failed') return [updated + settledMs]
    if (type !== 'Approved') return []
    return certificate === undefined ? [updated + pendingMs] : [updated + settledMs, endOf(certificate)]
  })
  return Math.min(Number.POSITIVE_INFINITY, ...times.filter((time) => !Number.isNaN(time)))
}

function endOf(certificate: string): number {
  try {
    return readCertificate(Buffer.from(certificate, 'base64').toString('latin1')).notAfter
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
