/** What kubectl prints for objects that are refused, in full: exactly as for a native resource. */
import t from 'tap'
import { startDev } from '../support/dev.ts'
import { needsKubectl } from '../support/process.ts'

const labelValueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const qualifiedNameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

const samples: Record<string, string> = {
  'wrong-type':
    'The MyPod "mypod-wrong-type" is invalid: spec.podSpec.containers: Invalid value: "string": spec.podSpec.containers in body must be of type array: "string"\n',
  'missing-containers': 'The MyPod "mypod-missing-containers" is invalid: spec.podSpec.containers: Required value\n',
  'duplicate-containers':
    'The MyPod "mypod-duplicate-containers" is invalid: spec.podSpec.containers[1]: Duplicate value: {"name":"main"}\n',
  'bad-label': `The MyPod "mypod-bad-label" is invalid: spec.podLabels: Invalid value: "my pod!": ${labelValueRule}\n`,
  'unknown-field':
    'Error from server (BadRequest): error when creating "config/samples/invalid/mypod-unknown-field.yaml": MyPod in version "v1" cannot be handled as a MyPod: strict decoding error: unknown field "spec.podLabel"\n',
  'number-for-string':
    'The MyPod "mypod-number-for-string" is invalid: spec.podAnnotations.prometheus.io/port: Invalid value: "integer": spec.podAnnotations.prometheus.io/port in body must be of type string: "integer"\n',
  'proto-key': `The MyPod "mypod-proto-key" is invalid: spec.podLabels: Invalid value: "__proto__": ${qualifiedNameRule}\n`,
  null: 'The MyPod "mypod-null" is invalid: spec.podSpec: Required value\n',
  'empty-spec': 'The MyPod "mypod-empty-spec" is invalid: spec.podSpec: Required value\n',
  'several-errors': `The MyPod "mypod-several-errors" is invalid: 
* spec.podAnnotations.prometheus.io/port: Invalid value: "integer": spec.podAnnotations.prometheus.io/port in body must be of type string: "integer"
* spec.podLabels: Invalid value: "my pod!": ${labelValueRule}
* spec.podLabels[creator]: Forbidden: the label is set by the operator
* spec.podSpec.containers[0].image: Invalid value: "": spec.podSpec.containers[0].image in body should be at least 1 chars long
* spec.podSpec.containers[1].image: Required value
* spec.podSpec.containers[2]: Duplicate value: {"name":"main"}
`,
}

const mypod = (name: string, metadata: string, podSpec: string): string =>
  `{"apiVersion":"harryyann.github.io/v1","kind":"MyPod","metadata":{"name":"${name}","namespace":"test-mypod"${metadata}},"spec":{"podSpec":${podSpec}}}`
const main = '{"name":"main","image":"x"}'

t.test('objects that are refused', needsKubectl, async (t) => {
  const { kubectl, ok } = await startDev(t)

  for (const [sample, stderr] of Object.entries(samples)) {
    t.test(sample, async (t) => {
      t.strictSame(await kubectl(`create -f config/samples/invalid/mypod-${sample}.yaml`), { code: 1, stdout: '', stderr })
    })
  }

  t.test('a huge annotation', async (t) => {
    const manifest = mypod('mypod-huge', `,"annotations":{"note":"${'x'.repeat(256 * 1024)}"}`, `{"containers":[${main}]}`)
    t.strictSame(await kubectl('create -f -', manifest), {
      code: 1,
      stdout: '',
      stderr: 'The MyPod "mypod-huge" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes\n',
    })
  })

  t.test('a Pod that the API server itself would refuse, told about the fields of the MyPod', async (t) => {
    const podSpec = `{"containers":[{"name":"Main","image":"x","ports":[{"containerPort":70000}]}],"restartPolicy":"Sometimes"}`
    const { code, stderr } = await kubectl('create -f -', mypod('mypod-bad-pod', '', podSpec))
    t.equal(code, 1)
    t.match(stderr, /^The MyPod "mypod-bad-pod" is invalid: \n/)
    t.match(stderr, /\* spec\.podSpec\.containers\[0\]\.name: Invalid value: "Main": a lowercase RFC 1123 label must consist of/)
    t.match(
      stderr,
      /\* spec\.podSpec\.containers\[0\]\.ports\[0\]\.containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive/,
    )
    t.match(stderr, /\* spec\.podSpec\.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"/)
  })

  t.test("the schema's errors and the kind's own come together", async (t) => {
    const manifest = mypod('mypod-both', '', '{"containers":[]}').replace('"spec":{', '"spec":{"podLabels":{"creator":"me"},')
    t.strictSame(
      (await kubectl('create -f -', manifest)).stderr,
      `The MyPod "mypod-both" is invalid: 
* spec.podLabels[creator]: Forbidden: the label is set by the operator
* spec.podSpec.containers: Invalid value: 0: spec.podSpec.containers in body should have at least 1 items
`,
    )
  })

  t.test('warnings do not refuse', async (t) => {
    const { code, stdout, stderr } = await kubectl('create -f -', mypod('mypod-warned', '', `{"hostNetwork":true,"containers":[${main}]}`))
    t.strictSame({ code, stdout }, { code: 0, stdout: 'mypod.harryyann.github.io/mypod-warned created\n' })
    t.equal(stderr, "Warning: spec.podSpec.hostNetwork: shares the node's namespace with the Pod\n")
  })

  t.test('an update is judged like a create, and what is refused changes nothing', async (t) => {
    await ok('create -f -', mypod('mypod-kept', '', `{"containers":[${main}]}`))
    const { code, stderr } = await kubectl(`patch mypod mypod-kept -n test-mypod --type merge -p {"spec":{"podSpec":{"containers":[]}}}`)
    t.equal(code, 1)
    t.equal(
      stderr,
      'The MyPod "mypod-kept" is invalid: spec.podSpec.containers: Invalid value: 0: spec.podSpec.containers in body should have at least 1 items\n',
    )
    t.equal(await ok('get mypod mypod-kept -n test-mypod -o jsonpath={.spec.podSpec.containers[0].name}'), 'main')
  })
})
