/** API requests that create, read, change and delete CertificateSigningRequests. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import { certificateRequests, requestField } from '../../../../support/certs/certificate-requests.ts'
import type { Change, Group, State } from '../group.ts'
import { each } from '../group.ts'

const { jane, masters, node, rsa, ed, alt } = certificateRequests
const client = 'kubernetes.io/kube-apiserver-client'
const base: JsonObject = { spec: { request: requestField(jane), signerName: client, usages: ['client auth'] } }
/** The certificate request of Jane, in which the subject is replaced. The signature is not valid for the new subject. */
const forged = requestField(jane).replace(requestField('MB4x'), requestField('MB4y'))

const approved: JsonObject = { type: 'Approved', status: 'True', reason: 'Because', message: 'm' }
const denied: JsonObject = { type: 'Denied', status: 'True' }
const times = { lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-01T00:00:00Z' }
const put = (subresource: string, status: JsonObject): NonNullable<State['subresources']>[number] => ({
  method: 'PUT',
  subresource,
  body: { ...base, metadata: { labels: { a: 'b' } }, status },
})
const decisions = (subresource: string): NonNullable<State['subresources']> => [
  put(subresource, {}),
  ...[
    [{ ...approved, ...times }],
    [{ ...denied, ...times }],
    [
      { ...approved, ...times },
      { ...denied, ...times },
    ],
    [
      { ...approved, ...times },
      { ...approved, ...times },
    ],
    [{ ...approved, ...times, status: 'False' }],
    [{ ...times, type: 'Approved' }],
    [{ ...times, type: '', status: 'True' }],
    [{ ...times, type: 'Failed', status: 'Unknown' }],
    [{ ...times, type: 'Failed', status: 'True' }],
    [{ ...times, type: 'Own', status: 'False' }],
    [{ ...times, type: 'Own', status: 'Other' }],
  ].map((conditions) => put(subresource, { conditions })),
]
const certificates: readonly Change[] = each({ 'status.certificate': [requestField('nothing'), requestField(jane), '', undefined] })

export const certificateGroups: readonly Group[] = [
  {
    name: 'certificatesigningrequests',
    type: {
      group: 'certificates.k8s.io',
      kind: 'CertificateSigningRequest',
      plural: 'certificatesigningrequests',
      namespaced: false,
    },
    base,
    create: [
      ...each({
        'spec.request': [
          undefined,
          '',
          '!',
          requestField('text'),
          requestField(jane.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')),
          forged,
        ],
        'spec.usages': [undefined, [], ['other'], ['client auth', 'client auth'], ['any', 'signing', 's/mime'], 'client auth'],
        'spec.signerName': [
          undefined,
          '',
          'a',
          'a/b',
          'a.b/c',
          'a.b/c.d',
          'a.b/c/d',
          'A.b/c',
          'a.b/C',
          '.b/c',
          'a.b/',
          `${'a'.repeat(64)}.b/c`,
          `${'a.'.repeat(127)}b/c`,
          'kubernetes.io/legacy-unknown',
        ],
        'spec.expirationSeconds': [599, 600, 0, -1, 31_536_000, 'one'],
        status: [{ conditions: [approved], certificate: requestField('a') }],
        'metadata.name': ['A b', 'a/b', 'a%b', '.', undefined],
      }),
      ...[node, rsa, ed, alt, masters].map((request) => ({ 'spec.request': requestField(request) })),
      { 'spec.request': requestField(masters), 'spec.signerName': 'example.com/signer' },
    ],
    states: [
      {
        update: [
          {},
          { 'spec.signerName': 'a.b/c' },
          { 'spec.usages': [] },
          { 'metadata.labels': { a: 'b' } },
          { 'status.conditions': [approved] },
        ],
        updateStatus: certificates,
        subresources: [{ method: 'GET', subresource: 'approval' }, ...decisions('approval'), ...decisions('status')],
        remove: [{}],
      },
      { from: { 'spec.expirationSeconds': 7200 }, status: { 'status.conditions': [{ ...times, type: 'Failed', status: 'True' }] } },
    ],
  },
]
