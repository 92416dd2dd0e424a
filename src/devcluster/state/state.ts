/**
 * State that is preserved across restarts: the CA, the administrator's token and the key of ServiceAccount tokens. Because of this state,
 * all credentials remain valid.
 */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { isObject } from '../../api/json.ts'
import { pairProblem } from '../../certs/certificate.ts'
import type { KeyPair } from '../../certs/issue.ts'
import { issueAuthority, authorityLifeMs, issueLeaf } from '../../certs/issue.ts'
import { newToken } from '../../runtime/random.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { apiServerAddress } from '../resources/cluster-addresses.ts'
import { readStateFile, writeStateFile } from './state-file.ts'

export interface ClusterState {
  readonly authority: KeyPair
  /** The administrator's bearer token. */
  readonly token: string
  /** The private key that signs the tokens of ServiceAccounts, as PEM. */
  readonly serviceAccountKey: string
}

/** When the cluster starts, a CA that expires within this time is replaced, because such a CA could expire while the cluster runs. */
const renewBeforeMs = 30 * 24 * 3_600_000

function newServiceAccountKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/**
 * Loads the state from `directory`, or creates a new state there. Without a directory, the state is always new. If the state is invalid, or
 * its CA expires soon, the state is replaced. A warning is then logged, because clients need the new kubeconfig.
 *
 * @throws {ProreusError} `PRO_STATE_FILE` when the file cannot be read or written, or when other users could have read or replaced it.
 */
export async function openState(
  directory: string | undefined,
  options: { readonly now: number; readonly logger: Logger },
): Promise<ClusterState> {
  const path = directory === undefined ? undefined : join(directory, 'state.json')
  const found = path === undefined ? undefined : await readState(path, options.now)
  if (found !== undefined && 'state' in found) return found.state
  if (found !== undefined && 'problem' in found)
    options.logger.warn(`${path} is replaced because ${found.problem}: clients need the new kubeconfig.`)
  const kept = found !== undefined && 'kept' in found ? found.kept : { authority: await issueAuthority(options.now), token: newToken() }
  const state: ClusterState = { ...kept, serviceAccountKey: newServiceAccountKey() }
  if (path !== undefined) await writeStateFile(path, `${JSON.stringify({ version: 1, ...state }, null, 2)}\n`)
  return state
}

/**
 * The result of reading the state file:
 * - `state`: the complete state.
 * - `kept`: the state in a file that an earlier release has written. Such a file contains no key for ServiceAccount tokens, so a new key is
 *   created.
 * - `problem`: the reason why the whole state in the file must be replaced.
 */
type FoundState =
  { readonly state: ClusterState } | { readonly kept: Omit<ClusterState, 'serviceAccountKey'> } | { readonly problem: string }

async function readState(path: string, now: number): Promise<FoundState | undefined> {
  const text = await readStateFile(path)
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { problem: 'it is not valid JSON' }
  }
  if (!isObject(value) || !isObject(value.authority) || typeof value.token !== 'string' || value.token.length < 32)
    return { problem: 'its certificate authority or token is missing' }
  const { cert, key } = value.authority
  if (typeof cert !== 'string' || typeof key !== 'string') return { problem: 'its certificate authority is missing' }
  const problem =
    pairProblem(cert, key, now) ??
    (pairProblem(cert, key, now + renewBeforeMs) === undefined ? undefined : 'its certificate authority expires soon')
  if (problem !== undefined) return { problem }
  const kept = { authority: { cert, key }, token: value.token }
  const { serviceAccountKey } = value
  if (serviceAccountKey === undefined) return { kept }
  if (typeof serviceAccountKey !== 'string' || !isPrivateKey(serviceAccountKey))
    return { problem: 'its key of ServiceAccount tokens is damaged' }
  return { state: { ...kept, serviceAccountKey } }
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false
  }
}

/**
 * Issues the serving certificate of the embedded API server, for the loopback addresses and for the DNS names of the Service `kubernetes`.
 */
export function issueServingCertificate(authority: KeyPair, now: number): Promise<KeyPair> {
  return issueLeaf(authority, {
    names: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'],
    // Pods that run as processes reach the API server at the cluster IP of the Service `kubernetes`.
    ips: ['127.0.0.1', '::1', apiServerAddress],
    now,
    // The certificate is issued at each start and is not renewed later. Therefore the certificate has the same lifetime as a new CA.
    lifeMs: authorityLifeMs,
  })
}
