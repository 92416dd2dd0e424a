import t from 'tap'
import { capabilityTable } from '../../src/cli/pod-capabilities.ts'

t.test('the table shows what works, why something does not, and what would change it', async (t) => {
  const table = capabilityTable([
    { name: 'namespaces', works: true, isRequired: true },
    { name: 'terminals', works: false, isRequired: false, reason: 'script: not found', remedy: 'install bsdutils' },
  ])
  t.equal(
    table,
    [
      'namespaces  yes',
      'terminals   no (not required)',
      '  reason: script: not found',
      '  remedy: install bsdutils',
      '',
      'Pods have networks, file systems and process ids of their own (mode namespaces).',
      '',
    ].join('\n'),
  )
  t.match(capabilityTable([{ name: 'namespaces', works: false, isRequired: true }]), /^namespaces {2}NO\n\n.*\(mode plain\)\.\n$/)
})
