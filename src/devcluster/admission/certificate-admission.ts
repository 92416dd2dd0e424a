/**
 * The admission plugins CertificateApproval, CertificateSigning and CertificateSubjectRestriction
 * (k8s.io/kubernetes/plugin/pkg/admission/certificates).
 */
import { messageOf } from '../../api/errors.ts'
import { quote } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { jsonEqual } from '../../api/json.ts'
import { failure } from '../../api/status.ts'
import { readCertificateRequest } from '../../certs/certificate-request.ts'
import type { Authorizer } from '../access/authorizer.ts'
import { masters } from '../access/authorizer.ts'
import { StatusError } from '../apimachinery/status-error.ts'
import { at, textAt } from '../apimachinery/unstructured.ts'
import type { Admission, AdmissionAttributes } from './admission.ts'

const group = 'certificates.k8s.io'
const clientSigner = 'kubernetes.io/kube-apiserver-client'

/**
 * Returns an `Admission` that runs the certificate plugins and then `next`. The plugins run at the beginning of `validate`, before
 * `next.validate` is called. They do nothing in `mutate`.
 */
export function withCertificateChecks(next: Admission, authorizer: Authorizer): Admission {
  return {
    mutate: (attributes, redefault) => next.mutate(attributes, redefault),
    validate(attributes) {
      return Promise.resolve().then(() => {
        if (attributes.info.storageKey === `${group}/certificatesigningrequests`) check(attributes, authorizer)
        return next.validate(attributes)
      })
    },
  }
}

function check(attributes: AdmissionAttributes, authorizer: Authorizer): void {
  const { operation, subresource, object, oldObject } = attributes
  if (operation === 'CREATE' && subresource === '' && object !== undefined) refuseMasters(attributes, object)
  if (operation !== 'UPDATE' || oldObject === undefined) return
  const signer = textAt(oldObject, 'spec', 'signerName')
  if (subresource === 'approval' && !mayUse(attributes, 'approve', signer, authorizer))
    throw refusal(attributes, `user not permitted to approve requests with signerName ${quote(signer)}`)
  if (subresource !== 'status' || object === undefined) return
  const isUnchanged = ['certificate', 'conditions'].every((field) =>
    jsonEqual(at(object, 'status', field) ?? null, at(oldObject, 'status', field) ?? null),
  )
  if (!isUnchanged && !mayUse(attributes, 'sign', signer, authorizer))
    throw refusal(attributes, `user not permitted to sign requests with signerName ${quote(signer)}`)
}

/** Returns true if the user may use the signer, or all signers of the signer's domain (IsAuthorizedForSignerName). */
function mayUse({ context }: AdmissionAttributes, verb: string, signer: string, authorizer: Authorizer): boolean {
  const names = [signer, `${signer.split('/')[0]!}/*`]
  return names.some(
    (name) =>
      authorizer.authorize({ verb, group, version: '*', resource: 'signers', subresource: '', namespace: '', name, user: context.user })
        .allowed,
  )
}

function refuseMasters(attributes: AdmissionAttributes, object: JsonObject): void {
  if (textAt(object, 'spec', 'signerName') !== clientSigner) return
  let organizations: readonly string[]
  try {
    organizations = readCertificateRequest(Buffer.from(textAt(object, 'spec', 'request'), 'base64').toString('latin1')).organizations
  } catch (error) {
    throw refusal(attributes, `failed to parse CSR: ${messageOf(error)}`)
  }
  if (organizations.includes(masters)) throw refusal(attributes, `use of ${clientSigner} signer with ${masters} group is not allowed`)
}

function refusal({ info, name }: AdmissionAttributes, why: string): StatusError {
  const kind = `${info.plural}.${info.group}`
  const subject = name === '' ? kind : `${kind} ${quote(name)}`
  const details = { ...(name === '' ? {} : { name }), group: info.group, kind: info.plural }
  return new StatusError(failure(403, 'Forbidden', `${subject} is forbidden: ${why}`, details))
}
