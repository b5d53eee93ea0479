import { Box, Button, Card, Group, ScrollArea, Tabs, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ChartNoAxesColumnIcon, DownloadIcon } from 'lucide-react'
import { downloadBreakdown, readBreakdown, USAGE_KEY } from '../../api/traffic/analytics.ts'
import { type Dimension, dimensionRow } from '../../api/traffic/dimensions.ts'
import { saveFile } from '../../parts/charts/save-file.ts'
import { spanBefore } from '../../parts/charts/time-buckets.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { notifyFault } from '../../parts/display/notify.ts'
import { DataTable } from '../../parts/tables/data-table.tsx'
import { Pager } from '../../parts/tables/pager.tsx'
import { say } from '../../texts/say.ts'
import classes from './analytics.module.css'
import { type AnalyticsState, isSameSpan } from './analytics-state.ts'
import { useColumns } from './breakdown-columns.tsx'
import { useTotal } from './figures.tsx'
import { rowKey } from './rows.ts'
import { TopChart } from './top-chart.tsx'

const MOMENTS = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** The scene in whole hours, where requests are counted by the dimension in these alone. */
function sceneOf(scene: AnalyticsState): AnalyticsState {
  if (dimensionRow(scene.dimension).isByHour !== true) return scene
  const { span, res } = scene.whole
  return { ...scene, span, res, before: scene.before && spanBefore(span, res) }
}

/** The breakdown of requests by one dimension, as a table with a chart of its first rows. */
export function Breakdown({ scene: shown }: { readonly scene: AnalyticsState }) {
  const scene = sceneOf(shown)
  const { dimension, dimensions, words, set } = scene
  const sorted = { by: words.sort, descending: words.order === 'down', page: Math.max(1, Number(words.page) || 1) }
  const { span, filters, refreshMs } = scene
  const rows = useQuery({
    queryKey: [...USAGE_KEY, 'by', dimension, span, filters, sorted],
    queryFn: ({ signal }) => readBreakdown(dimension, span, filters, sorted, signal),
    placeholderData: (old, query) => (query?.queryKey[2] === dimension ? keepPreviousData(old) : undefined),
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  })
  const total = useTotal(scene, span)
  const data = rows.data?.data
  const columns = useColumns(scene, data ?? [], total.data?.hits ?? 0)
  const save = async () => {
    try {
      saveFile(await downloadBreakdown(dimension, span, filters, sorted), `analytics-${dimension}.csv`)
    } catch (error) {
      notifyFault(error)
    }
  }
  return (
    <Card withBorder padding="md" component="section" aria-label={say('analytics.breakdown')}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {say('analytics.breakdown')}
        </Title>
        <Button size="compact-sm" variant="default" leftSection={<DownloadIcon size={14} aria-hidden />} onClick={save}>
          {say('analytics.csvBreakdown')}
        </Button>
      </Group>
      <Tabs
        value={dimension}
        onChange={(by) => set({ by: by ?? '', page: '', sort: '', order: '' })}
        keepMounted={false}
        mb="sm"
      >
        <ScrollArea type="auto" scrollbarSize={6} offsetScrollbars="x">
          <Tabs.List aria-label={say('analytics.tellApart')} className={classes.tabs ?? ''}>
            {dimensions.map((name) => (
              <Tabs.Tab key={name} value={name}>
                {say(`analytics.by.${name}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </ScrollArea>
        <Tabs.Panel value={dimension} pt="sm">
          {!isSameSpan(scene.span, shown.span) && (
            <Text size="xs" c="dimmed" mb="xs">
              {say('analytics.wholeHoursOf', { time: MOMENTS.formatRange(scene.span.fromMs, scene.span.toMs) })}
            </Text>
          )}
          <Box className={(data === undefined || data.length > 0) && classes.beside ? classes.beside : ''}>
            <Box miw={0}>
              <DataTable
                label={`${say('analytics.breakdown')}: ${say(`analytics.by.${dimension}`)}`}
                columns={columns}
                rows={data}
                rowKey={rowKey}
                error={rows.error}
                retry={() => void rows.refetch()}
                sorting={{ by: words.sort, descending: words.order === 'down' }}
                onSort={({ by, descending }) => set({ sort: by, order: descending ? 'down' : 'up', page: '' })}
                empty={<Nothing dimension={dimension} isFiltered={Object.values(filters).some((v) => v !== '')} />}
              />
              <Pager page={sorted.page} pages={rows.data?.pages ?? 0} onPage={(page) => set({ page: String(page) })} />
            </Box>
            {data !== undefined && data.length > 0 && <TopChart scene={scene} rows={data} />}
          </Box>
        </Tabs.Panel>
      </Tabs>
    </Card>
  )
}

function Nothing({ dimension, isFiltered }: { readonly dimension: Dimension; readonly isFiltered: boolean }) {
  const hint = isFiltered ? 'analytics.emptyFiltered' : (dimensionRow(dimension).empty ?? 'analytics.emptyHint')
  return <Empty icon={ChartNoAxesColumnIcon} title={say('analytics.emptyTitle')} hint={say(hint)} />
}
