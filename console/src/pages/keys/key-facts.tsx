import { Anchor, Badge, Card, Code, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { KeyDetails } from '../../api/access/keys.ts'
import { useMay } from '../../api/people/session.ts'
import { CopyText } from '../../parts/display/copy.tsx'
import { When } from '../../parts/display/when.tsx'
import { PolicyBadges, usePolicyNames } from '../../parts/portal/policy-names.tsx'
import { say } from '../../texts/say.ts'
import { isOfCertificate } from './key-proofs.ts'

/** The details of a key besides its access rights. */
export function KeyFactsCard({ details }: { readonly details: KeyDetails }) {
  const { data, facts, key_hash: hash } = details
  const nameOf = usePolicyNames(facts.policies)
  const mayOpenDevelopers = useMay('portal')
  const tags = data.tags ?? []
  const metadata = Object.entries(data.meta_data ?? {})
  return (
    <Card withBorder component="section" padding="lg">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {say('keys.facts')}
        </Title>
        <Fact name={say('keys.hash')} hint={say('keys.hashHint')}>
          <CopyText value={hash} />
        </Fact>
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }} spacing="md">
          {facts.policies.length > 0 && (
            <Fact name={say('keys.policies')}>
              <PolicyBadges ids={facts.policies} nameOf={nameOf} />
            </Fact>
          )}
          {isOfCertificate(data) && (
            <Fact name={say('keys.certificate')}>
              <CopyText value={String(data.certificate)} />
            </Fact>
          )}
          {data.hmac_enabled === true && <Fact name={say('keys.signs')}>{say('keys.signsSo')}</Fact>}
          {facts.developer_id !== '' && (
            <Fact name={say('keys.developer')}>
              {mayOpenDevelopers ? (
                <Anchor component={Link} to={`/developers/${facts.developer_id}`} size="sm">
                  {say('keys.developerLink')}
                </Anchor>
              ) : (
                facts.developer_id
              )}
            </Fact>
          )}
          <Fact name={say('keys.lastUsed')}>
            <When at={facts.last_used} />
          </Fact>
          <Fact name={say('keys.created')}>
            <When at={facts.date_created} />
          </Fact>
          <Fact name={say('keys.expires')}>
            <When at={data.expires} />
          </Fact>
          {facts.valid_until !== '' && (
            <Fact name={say('keys.validUntil')}>
              <When at={facts.valid_until} />
            </Fact>
          )}
          {facts.rotated_to !== '' && <Other name={say('keys.successor')} hash={facts.rotated_to} />}
          {facts.rotated_from !== '' && <Other name={say('keys.predecessor')} hash={facts.rotated_from} />}
          {tags.length > 0 && (
            <Fact name={say('keys.tags')}>
              <Group gap={6}>
                {tags.map((tag) => (
                  <Badge key={tag} variant="default" tt="none" fw={500}>
                    {tag}
                  </Badge>
                ))}
              </Group>
            </Fact>
          )}
          {metadata.length > 0 && (
            <Fact name={say('keys.metadata')}>
              <Stack gap={2}>
                {metadata.map(([name, value]) => (
                  <Text key={name} size="sm" className="wrap-anywhere" dir="auto">
                    <Text span c="dimmed" inherit>
                      {name}:{' '}
                    </Text>
                    {typeof value === 'string' ? value : JSON.stringify(value)}
                  </Text>
                ))}
              </Stack>
            </Fact>
          )}
        </SimpleGrid>
      </Stack>
    </Card>
  )
}

function Fact(props: { readonly name: string; readonly hint?: string; readonly children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {props.name}
      </Text>
      <Text size="sm" component="div">
        {props.children}
      </Text>
      {props.hint !== undefined && (
        <Text size="xs" c="dimmed">
          {props.hint}
        </Text>
      )}
    </div>
  )
}

function Other({ name, hash }: { readonly name: string; readonly hash: string }) {
  return (
    <Fact name={name}>
      <Anchor component={Link} to={`/keys/${hash}`} size="sm">
        <Code>{hash.slice(0, 10)}…</Code>
      </Anchor>
    </Fact>
  )
}
